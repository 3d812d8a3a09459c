// What a tool's definition says of it, in words.
import type { ServerView } from "../../api/types";
import type { Tool } from "../../state/items";

export type { Tool };

export interface Hint {
  label: string;
  short: string;
  color: string;
  about: string;
}

/** What the server says of its tool. These are claims, not facts. */
export function hintsOf(tool: Tool): Hint[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
  const hints: Hint[] = [];
  if (readOnlyHint === true)
    hints.push({
      label: "read-only",
      short: "RO",
      color: "green",
      about: "Says that it changes nothing",
    });
  if (destructiveHint === true && readOnlyHint !== true)
    hints.push({
      label: "destructive",
      short: "D",
      color: "red",
      about: "Says that it may destroy something",
    });
  if (idempotentHint === true)
    hints.push({
      label: "idempotent",
      short: "I",
      color: "blue",
      about: "Says that calling it twice does no more than once",
    });
  if (openWorldHint === true)
    hints.push({
      label: "open-world",
      short: "OW",
      color: "violet",
      about: "Says that it reaches beyond this server",
    });
  const task = tool.execution?.taskSupport;
  if (task && task !== "forbidden")
    hints.push({
      label: task === "required" ? "task required" : "task optional",
      short: "T",
      color: "gray",
      about: "Can run as a task",
    });
  return hints;
}

// From this revision on the server alone decides.
const STATELESS = "2026-07-28";

const has = (value: unknown, path: string[]): boolean => {
  const [first, ...rest] = path;
  if (first === undefined) return true;
  if (typeof value !== "object" || value === null || !(first in value)) return false;
  return has((value as Record<string, unknown>)[first], rest);
};

/** Why no call can be asked to run as a task; null if it can. */
export function whyNoTask(server: ServerView): string | null {
  if ((server.protocol_version ?? "") >= STATELESS)
    return `In ${STATELESS} the server decides which calls become tasks.`;
  return has(server.capabilities, ["tasks", "requests", "tools", "call"])
    ? null
    : "The server did not declare tasks.requests.tools.call.";
}

/** Why a tool that runs only as a task cannot run as one; null for every other tool. */
export const whyBarred = (server: ServerView, tool: Tool): string | null =>
  tool.execution?.taskSupport === "required" && server.state === "CONNECTED"
    ? whyNoTask(server)
    : null;
