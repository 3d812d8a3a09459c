import type { ServerView } from "../api/types";

/** Whether a request can have headers of its own; a WebSocket has those that it was opened with. */
export const takesHeaders = ({ url, transport }: ServerView): boolean =>
  url !== null && transport !== "websocket";
