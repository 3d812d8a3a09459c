// Banner above a screen whose server is disconnected: what happened, and a button to reconnect.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../api/types";
import { StateDot } from "../components/StateDot";
import { pathTo, serverName } from "../state/navigation";
import { useInspector } from "../state/store";
import { withoutAnsi } from "../values/ansi";
import { disconnectedText, displayState } from "../values/serverState";
import { ConnectOutput, ConnectProgress, isConnecting } from "./ConnectProgress";
import { toggleConnection } from "./connectionActions";
import css from "./DisconnectedBanner.module.css";

// Enough for the end of a stack trace.
const LINES = 6;

interface Props {
  server: ServerView;
  /** Omits the last lines of stderr. */
  isBrief?: boolean;
}

/** The banner for a server that exited or failed; none for one that was never connected. */
export function FailedServerBanner({ serverId }: { serverId: string }) {
  const server = useInspector((state) => state.servers.get(serverId));
  return server && (server.exit || server.error) ? (
    <DisconnectedBanner server={server} isBrief />
  ) : null;
}

export function DisconnectedBanner({ server, isBrief = false }: Props) {
  if (server.state === "CONNECTED") return null;
  const said = server.stderr_tail.slice(-LINES);
  return (
    <div className={css.note}>
      <StateDot state={displayState(server)} />
      <span className={css.words} role="status">
        {disconnectedText(server, serverName(server))}. The page shows the last known state.
      </span>
      {isConnecting(server) ? (
        <ConnectProgress server={server} />
      ) : (
        <Button size="compact-xs" variant="default" onClick={() => toggleConnection(server)}>
          Connect again
        </Button>
      )}
      {!isBrief && isConnecting(server) && (
        <div className={css.said}>
          <ConnectOutput server={server} />
        </div>
      )}
      {server.exit && !isBrief && said.length > 0 && (
        <details className={css.said} open>
          <summary>Last lines of stderr</summary>
          <pre className="block">{withoutAnsi(said.join("\n"))}</pre>
          <Link to={pathTo(server.server_id, "logs")}>All of them</Link>
        </details>
      )}
    </div>
  );
}
