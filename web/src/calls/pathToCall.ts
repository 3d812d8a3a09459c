import type { CallView } from "../api/types";
import { pathTo, pathToServer } from "../state/selection";

/** Where a call is looked at. */
export function pathToCall(call: CallView): string {
  const { kind, server_id } = call;
  const query = `?call=${encodeURIComponent(call.call_id)}`;
  if (kind === "tool") return pathTo(server_id, "tools", call.name) + query;
  if (kind === "prompt") return pathTo(server_id, "prompts", call.name) + query;
  if (kind === "resource") return pathTo(server_id, "resources", call.name) + query;
  if (kind === "raw") return pathToServer(server_id, "experimental");
  const id = call.request_id === null ? "" : `?id=${encodeURIComponent(call.request_id)}`;
  return pathTo(server_id, "traffic") + id;
}
