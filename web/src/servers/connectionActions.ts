// A server is left, whatever it was doing, and connected again: its code or its entry has changed.
import type { ServerView } from "../api/types";
import { command } from "../state/commands";
import { connect } from "../state/connect";
import { serverName } from "../state/navigation";
import { withErrorToast } from "../state/toasts";
import { askToConfirm } from "./Confirmation";

// By server, who left it last: who was overtaken meanwhile leaves the rest to the other.
const newest = new Map<string, symbol>();

/** Disconnect; whether it is now ours to connect. */
async function disconnectFirst(server_id: string): Promise<boolean> {
  const mine = Symbol(server_id);
  newest.set(server_id, mine);
  const server = await command("Disconnect", { server_id });
  if (newest.get(server_id) !== mine) return false;
  if (server.needs_confirmation) askToConfirm(server);
  return !server.needs_confirmation;
}

/** Have a changed entry or other capabilities take effect; rejects if it is not connected then. */
export async function reconnect({ server_id }: ServerView): Promise<void> {
  if (await disconnectFirst(server_id)) await connect(server_id);
}

/** For the hotkey, and as it is written where the key is named. */
export const RESTART_KEY = { hotkey: "shift+R", shown: "Shift R" };

/** What `restart` amounts to: only a server of ours has a process that we can start. */
export const restartLabel = ({ transport }: ServerView): string =>
  transport === "stdio" ? "Restart" : "Reconnect";

async function startAgain(server_id: string): Promise<void> {
  if (await disconnectFirst(server_id)) await command("Connect", { server_id });
}

/** From any state; what comes of it is told as of any connection. */
export function restart(server: ServerView): void {
  const verb = restartLabel(server).toLowerCase();
  void withErrorToast(`Could not ${verb} ${serverName(server)}`, startAgain(server.server_id));
}

/** Connect what is off, and disconnect what is on or on its way. */
export function toggleConnection(server: ServerView): void {
  const { server_id } = server;
  const isOn = server.state === "CONNECTED" || server.state === "CONNECTING";
  if (isOn) void withErrorToast("Could not disconnect", command("Disconnect", { server_id }));
  else if (server.needs_confirmation) askToConfirm(server);
  else
    void withErrorToast(
      `Could not connect ${serverName(server)}`,
      command("Connect", { server_id }),
    );
}
