// The revision of MCP that a server speaks, and what follows from it.
import type { ServerView } from "../api/types";
import { isObject } from "../values/jsonObject";

export const STATELESS = "2026-07-28";
const META = "io.modelcontextprotocol/";

type Speaks = Pick<ServerView, "protocol_version">;
type Declares = Speaks & Pick<ServerView, "declared_capabilities">;

/** Whether there is no session: every request says by itself who asks and what he can. */
export const isStateless = ({ protocol_version: revision }: Speaks): boolean =>
  (revision ?? "") >= STATELESS;

/** The params with what every request of 2026-07-28 carries in its `_meta`. */
export function enveloped(params: unknown, server: Declares | undefined, client: string): unknown {
  if (!isObject(params) || !server || !isStateless(server)) return params;
  const envelope = {
    [`${META}protocolVersion`]: server.protocol_version,
    [`${META}clientCapabilities`]: server.declared_capabilities ?? {},
    [`${META}clientInfo`]: { name: client, version: "0" },
  };
  return { ...params, _meta: { ...envelope, ...(isObject(params._meta) ? params._meta : {}) } };
}
