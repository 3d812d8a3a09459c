// Connects a server and waits until it is connected or has finally failed.
import { CommandError } from "../api/socket";
import type { CallView, ErrorView, ServerView } from "../api/types";
import { command } from "./commands";
import { useInspector } from "./store";
import { withErrorToast } from "./toasts";

const known = (serverId: string): ServerView | undefined =>
  useInspector.getState().servers.get(serverId);

// Transient states: after ERROR a retry follows, or the connection is given up.
const PASSING: readonly ServerView["state"][] = ["CONNECTING", "DISCONNECTING", "ERROR"];

/** The final state after connecting; automatic retries are waited for. */
function settled(begun: ServerView): Promise<ServerView | undefined> {
  return new Promise((resolve) => {
    let stop: () => void = () => undefined;
    const look = (): void => {
      const now = known(begun.server_id);
      // The reply arrives before the changed view: until then the store has the old connection.
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

/** Connect a server; rejects if it is not connected in the end. */
export async function connect(serverId: string): Promise<void> {
  const server = await settled(await command("Connect", { server_id: serverId }));
  if (server?.state !== "CONNECTED") throw new CommandError(server?.error ?? NOT_CONNECTED);
}

/** Send something again, reconnecting first if needed; shows a toast if it was not sent. */
export async function resend(
  serverId: string,
  send: () => Promise<CallView>,
): Promise<CallView | null> {
  const isConnected = known(serverId)?.state === "CONNECTED";
  const connected = isConnected ? Promise.resolve() : connect(serverId);
  const isThere = await withErrorToast(
    "Not sent: could not connect",
    connected.then(() => true),
  );
  return isThere ? withErrorToast("Could not send again", send()) : null;
}
