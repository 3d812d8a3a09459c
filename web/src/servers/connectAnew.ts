import type { ServerView } from "../api/types";
import { command } from "../state/connection";
import { connect } from "../state/reconnect";
import { askToConfirm } from "./Confirmation";

/** Have a changed entry or other capabilities take effect: disconnect, and connect again. */
export async function connectAnew({ server_id }: ServerView): Promise<void> {
  const left = await command("Disconnect", { server_id });
  if (left.needs_confirmation) askToConfirm(left);
  else await connect(server_id);
}
