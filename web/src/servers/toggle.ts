import type { ServerView } from "../api/types";
import { command } from "../state/commands";
import { serverName } from "../state/navigation";
import { withErrorToast } from "../state/toasts";
import { askToConfirm } from "./Confirmation";

/** Connect what is off, and disconnect what is on or on its way. */
export function toggle(server: ServerView): void {
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
