// Connect a server and wait until it is connected, or until that has failed for good.
import { CommandError } from "../api/socket";
import type { CallView, ErrorView, ServerView } from "../api/types";
import { command } from "./commands";
import { useInspector } from "./store";
import { withErrorToast } from "./toasts";

const known = (serverId: string): ServerView | undefined =>
  useInspector.getState().servers.get(serverId);

// Nothing stays in these: after ERROR, another attempt follows, or it is given up.
const PASSING: readonly ServerView["state"][] = ["CONNECTING", "DISCONNECTING", "ERROR"];

/** What came of connecting; attempts that follow by themselves are waited for. */
function settled(begun: ServerView): Promise<ServerView | undefined> {
  return new Promise((resolve) => {
    let stop: () => void = () => undefined;
    const look = (): void => {
      const now = known(begun.server_id);
      // A reply comes before what it changed: until then the store has the former connection.
      const newest = now && now.since < begun.since ? begun : now;
      if (newest && PASSING.includes(newest.state)) return;
      stop();
      resolve(newest);
    };
    stop = useInspector.subscribe(look);
    look();
  });
}

const NOT_CONNECTED: ErrorView = {
  code: "NOT_CONNECTED",
  message: "The server is not connected.",
  category: "connection",
  retryable: true,
  details: {},
  helpUrl: "/docs/errors/not-connected",
};

/** Connect a server, whatever this page knows of it; rejects if it is not connected in the end. */
export async function connect(serverId: string): Promise<void> {
  const server = await settled(await command("Connect", { server_id: serverId }));
  if (server?.state !== "CONNECTED") throw new CommandError(server?.error ?? NOT_CONNECTED);
}

/** Send something again, by a new connection where the old one is gone; tells if it was not sent. */
export async function resend(
  serverId: string,
  send: () => Promise<CallView>,
): Promise<CallView | null> {
  const isConnected = known(serverId)?.state === "CONNECTED";
  const connected = isConnected ? Promise.resolve() : connect(serverId);
  const isThere = await withErrorToast(
    "Not connected, not sent",
    connected.then(() => true),
  );
  return isThere ? withErrorToast("Not sent again", send()) : null;
}
