import type { ServerView } from "../api/types";

/** Whether a request can have headers of its own; a WebSocket has those that it was opened with. */
export const takesHeaders = ({ url, transport }: ServerView): boolean =>
  url !== null && transport !== "websocket";

/** Whether headers repeat arguments (`x-mcp-header`), which began with 2026-07-28. */
export const repeatsInHeaders = (server: ServerView): boolean =>
  takesHeaders(server) && (server.protocol_version ?? "") >= "2026-07-28";
