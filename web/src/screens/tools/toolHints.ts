// Hints from a tool's definition as labels, and why it cannot run as a task.
import type { ServerView } from "../../api/types";
import type { Tool } from "../../state/items";
import { isStateless, STATELESS } from "../../state/protocol";

export type { Tool };

/** Filter tags, in display order. */
export const TAGS = ["read-only", "destructive", "idempotent", "open-world", "task"] as const;
export type Tag = (typeof TAGS)[number];

interface Hint {
  tag: Tag;
  label: string;
  color: string;
  about: string;
}

/** Annotations of a tool. These are claims of the server, not facts. */
export function hintsOf(tool: Tool): Hint[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
  const hints: Hint[] = [];
  if (readOnlyHint === true)
    hints.push({
      tag: "read-only",
      label: "read-only",
      color: "green",
      about: "Says that it changes nothing",
    });
  if (destructiveHint === true && readOnlyHint !== true)
    hints.push({
      tag: "destructive",
      label: "destructive",
      color: "red",
      about: "Says that it may destroy something",
    });
  if (idempotentHint === true)
    hints.push({
      tag: "idempotent",
      label: "idempotent",
      color: "blue",
      about: "Says that calling it twice does no more than once",
    });
  if (openWorldHint === true)
    hints.push({
      tag: "open-world",
      label: "open-world",
      color: "violet",
      about: "Says that it reaches beyond this server",
    });
  const task = tool.execution?.taskSupport;
  if (task && task !== "forbidden")
    hints.push({
      tag: "task",
      label: task === "required" ? "task required" : "task optional",
      color: "gray",
      about: "Can run as a task",
    });
  return hints;
}

const has = (value: unknown, path: string[]): boolean => {
  const [first, ...rest] = path;
  if (first === undefined) return true;
  if (typeof value !== "object" || value === null || !(first in value)) return false;
  return has((value as Record<string, unknown>)[first], rest);
};

/** Why calls cannot run as tasks; null if they can. */
export function taskObstacle(server: ServerView): string | null {
  if (isStateless(server)) return `In ${STATELESS} the server decides which calls become tasks.`;
  return has(server.capabilities, ["tasks", "requests", "tools", "call"])
    ? null
    : "The server did not declare tasks.requests.tools.call.";
}

/** Why a tool that runs only as a task cannot run as one; null for every other tool. */
export const callObstacle = (server: ServerView, tool: Tool): string | null =>
  tool.execution?.taskSupport === "required" && server.state === "CONNECTED"
    ? taskObstacle(server)
    : null;
