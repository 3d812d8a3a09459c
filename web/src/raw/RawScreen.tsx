// The raw tester as a screen of its own, beside the traffic that its messages appear in.
import { Button } from "@mantine/core";
import { useParams } from "react-router";
import type { ServerView } from "../api/types";
import { Callout } from "../components/Callout";
import { toggleConnection } from "../servers/connectionActions";
import { NotConnected } from "../servers/NotConnected";
import { serverName } from "../state/navigation";
import { useRawDraft } from "../state/rawDraft";
import { useInspector } from "../state/store";
import { stateLabel } from "../values/serverState";
import { RawTester } from "./RawTester";

/** A message can be written, but not sent: offers to connect. */
function ConnectNotice({ server }: { server: ServerView }) {
  if (server.state === "CONNECTED") return null;
  const isConnecting = server.state === "CONNECTING";
  return (
    <Callout tone="info">
      <div className="row wrap">
        <span className="grow">
          {serverName(server)}: {stateLabel(server).toLowerCase()}
        </span>
        <Button variant="default" disabled={isConnecting} onClick={() => toggleConnection(server)}>
          Connect
        </Button>
      </div>
    </Callout>
  );
}

function OfServer({ server }: { server: ServerView }) {
  const message = useRawDraft(server);
  return (
    <div className="pane">
      <div className="scroll pad stack">
        <ConnectNotice server={server} />
        <RawTester server={server} message={message} isScreen />
      </div>
    </div>
  );
}

export function RawScreen() {
  const { server: serverId = "" } = useParams();
  const server = useInspector((state) => state.servers.get(serverId));
  if (!server) return <NotConnected server={undefined} icon="traffic" />;
  return <OfServer key={serverId} server={server} />;
}
