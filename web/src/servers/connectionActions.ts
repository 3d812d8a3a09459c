// Actions on connections: connect, disconnect, restart, reconnect.
import type { ServerView } from "../api/types";
import { command } from "../state/commands";
import { connect } from "../state/connect";
import { rememberServer } from "../state/lastVisited";
import { serverName } from "../state/navigation";
import { withErrorToast } from "../state/toasts";
import { askToConfirm } from "./Confirmation";

// By server, the latest restart: an older one that is overtaken stops.
const newest = new Map<string, symbol>();

/** Disconnect; returns whether to connect next. */
async function disconnectFirst(server_id: string): Promise<boolean> {
  const mine = Symbol(server_id);
  newest.set(server_id, mine);
  const server = await command("Disconnect", { server_id });
  if (newest.get(server_id) !== mine) return false;
  if (server.needs_confirmation) askToConfirm(server);
  return !server.needs_confirmation;
}

/** Reconnect so that changed settings take effect; rejects if it is not connected in the end. */
export async function reconnect({ server_id }: ServerView): Promise<void> {
  if (await disconnectFirst(server_id)) await connect(server_id);
}

/** The hotkey, and how it is displayed. */
export const RESTART_KEY = { hotkey: "shift+R", shown: "Shift R" };

/** Label of `restart`: only a stdio server has a process that we start. */
export const restartLabel = ({ transport }: ServerView): string =>
  transport === "stdio" ? "Restart" : "Reconnect";

async function startAgain(server_id: string): Promise<void> {
  if (await disconnectFirst(server_id)) await command("Connect", { server_id });
}

/** From any state; the outcome is notified like any connection change. */
export function restart(server: ServerView): void {
  const verb = restartLabel(server).toLowerCase();
  void withErrorToast(`Could not ${verb} ${serverName(server)}`, startAgain(server.server_id));
}

/** Connect a disconnected server; disconnect one that is connected or connecting. */
export function toggleConnection(server: ServerView): void {
  const { server_id } = server;
  const isOn = server.state === "CONNECTED" || server.state === "CONNECTING";
  if (isOn) {
    void withErrorToast("Could not disconnect", command("Disconnect", { server_id }));
    return;
  }
  if (server.needs_confirmation) {
    askToConfirm(server);
    return;
  }
  // The server that the user connects becomes the current one.
  rememberServer(server_id);
  void withErrorToast(
    `Could not connect to ${serverName(server)}`,
    command("Connect", { server_id }),
  );
}
