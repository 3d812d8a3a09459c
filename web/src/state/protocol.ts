// What follows from the revision of MCP and the transport that a server uses.
import type { ServerView } from "../api/types";
import { fieldsOf, isObject } from "../values/jsonObject";

export const STATELESS = "2026-07-28";
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
export const UI_EXTENSION = "io.modelcontextprotocol/ui";
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
/** The extensions that are declared unless they are taken away, with their settings. */
export const DEFAULT_EXTENSIONS: Record<string, unknown> = {
  [TASKS_EXTENSION]: {},
  [UI_EXTENSION]: { mimeTypes: ["text/html;profile=mcp-app"] },
  [SKILLS_EXTENSION]: {},
};
/** What a server declares about skills; undefined if it has none. */
export const skillSettings = (capabilities: Record<string, unknown>): unknown =>
  fieldsOf(capabilities.extensions)[SKILLS_EXTENSION];

const META = "io.modelcontextprotocol/";

type Speaks = Pick<ServerView, "protocol_version">;
type Declares = Speaks & Pick<ServerView, "declared_capabilities">;

/** Whether the protocol is stateless: every request carries client info and capabilities. */
export const isStateless = ({ protocol_version: revision }: Speaks): boolean =>
  (revision ?? "") >= STATELESS;

/** The params with the `_meta` fields that every request of 2026-07-28 carries. */
export function withEnvelope(
  params: unknown,
  server: Declares | undefined,
  client: string,
): unknown {
  if (!isObject(params) || !server || !isStateless(server)) return params;
  const envelope = {
    [`${META}protocolVersion`]: server.protocol_version,
    [`${META}clientCapabilities`]: server.declared_capabilities ?? {},
    [`${META}clientInfo`]: { name: client, version: "0" },
  };
  return { ...params, _meta: { ...envelope, ...(isObject(params._meta) ? params._meta : {}) } };
}

/** Whether a message is a request that lacks the `_meta` fields of 2026-07-28, where it needs them. */
export function lacksEnvelope(message: unknown, server: Speaks): boolean {
  if (!isObject(message) || typeof message.method !== "string" || !("id" in message)) return false;
  // Whoever sends the handshake of older revisions means it.
  if (!isStateless(server) || message.method === "initialize") return false;
  // Other params than an object have no place for it.
  if (!isObject(message.params ?? {})) return false;
  return fieldsOf(fieldsOf(message.params)._meta)[`${META}protocolVersion`] === undefined;
}

/** Whether a request can have headers of its own; a WebSocket has those that it was opened with. */
export const takesHeaders = ({ url, transport }: ServerView): boolean =>
  url !== null && transport !== "websocket";

/** Whether arguments are repeated as headers (`x-mcp-header`), since 2026-07-28. */
export const repeatsInHeaders = (server: ServerView): boolean =>
  takesHeaders(server) && isStateless(server);
