import type { ServerView } from "../api/types";
import { telling } from "../state/actions";
import { command } from "../state/connection";
import { nameOf } from "../state/selection";
import { askToConfirm } from "./Confirmation";

/** Connect what is off, and disconnect what is on or on its way. */
export function toggle(server: ServerView): void {
  const { server_id } = server;
  const isOn = server.state === "CONNECTED" || server.state === "CONNECTING";
  if (isOn) void telling("Could not disconnect", command("Disconnect", { server_id }));
  else if (server.needs_confirmation) askToConfirm(server);
  else void telling(`Could not connect ${nameOf(server)}`, command("Connect", { server_id }));
}
