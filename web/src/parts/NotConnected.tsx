// What a work screen shows of a server that is not connected, or that does not offer this.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { ServerView } from "../api/types";
import { toggle } from "../screens/servers/ServerCard";
import { nameOf, pathToServer } from "../state/selection";
import { useInspector } from "../state/store";
import { Empty } from "./Empty";
import { ErrorNote } from "./ErrorNote";
import { clock, duration } from "./format";
import type { IconName } from "./icons";
import { stateWords, stepWords } from "./StateDot";
import { useNow } from "./useNow";

function Since({ server }: { server: ServerView }) {
  const now = useNow(true);
  const spent = duration(Math.max(0, Math.floor(now - server.since)));
  return (
    <>{`${stepWords(server)} since ${clock(server.since, false)}${now - server.since < 1 ? "" : ` (${spent})`}.`}</>
  );
}

export function NotConnected({ server, icon }: { server: ServerView | undefined; icon: IconName }) {
  const isGreeted = useInspector((state) => state.run_id !== null);
  if (!isGreeted) return <Empty icon={icon} title="Loading…" />;
  if (!server) {
    return (
      <Empty
        icon="servers"
        title="There is no such server"
        action={
          <Button component={Link} to="/servers">
            Choose a server
          </Button>
        }
      >
        It may have been removed, or mcplens was started with another configuration.
      </Empty>
    );
  }
  const isConnecting = server.state === "CONNECTING";
  return (
    <Empty
      icon={icon}
      title={`${nameOf(server)}: ${stateWords(server).toLowerCase()}`}
      action={
        <div className="row">
          <Button onClick={() => toggle(server)} variant={isConnecting ? "default" : "filled"}>
            {isConnecting ? "Cancel" : "Connect"}
          </Button>
          <Button component={Link} to={pathToServer(server.server_id)} variant="default">
            Details
          </Button>
        </div>
      }
    >
      {server.error ? (
        <ErrorNote error={server.error} />
      ) : isConnecting ? (
        <Since server={server} />
      ) : (
        "Connect it to see what it offers."
      )}
    </Empty>
  );
}
