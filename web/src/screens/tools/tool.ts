// A tool as a server lists it, as far as the screen knows it.

export interface Tool {
  name?: string;
  title?: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: {
    title?: string;
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
  execution?: { taskSupport?: string };
  icons?: unknown;
}

export const titleOf = (tool: Tool): string =>
  tool.title ?? tool.annotations?.title ?? tool.name ?? "(no name)";

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
