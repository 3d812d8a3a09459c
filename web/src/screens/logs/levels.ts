// The eight levels of MCP logging, and log rows as text and as JSON.
import type { EventView } from "../../api/types";
import { clock } from "../../parts/format";

export const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type Level = (typeof LEVELS)[number];

/** What can be shown or hidden: the levels, and what comes from stderr. */
export const SHOWN: readonly string[] = [...LEVELS, "stderr"];

// As many characters of a line as a row is given.
const HEAD = 300;

export const isStderr = (event: EventView): boolean => event.kind === "StderrLine";

export const isLog = (event: EventView): boolean => event.kind === "LogReceived" || isStderr(event);

export const levelOf = (event: EventView): string =>
  isStderr(event) ? "stderr" : String(event.detail.level ?? "info");

export const loggerOf = (event: EventView): string =>
  typeof event.detail.logger === "string" ? event.detail.logger : "";

/** Whether the row has less than was written. */
export const isCut = (event: EventView): boolean =>
  isStderr(event) ? event.head.length >= HEAD && event.size_bytes > HEAD : event.is_cut;

/** What it says; a line that is too long for a row ends with "…". */
export function textOf(event: EventView): string {
  if (isStderr(event)) return isCut(event) ? `${event.head}…` : event.head;
  const { data } = event.detail;
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "");
}

export const lineOf = (event: EventView): string =>
  [clock(event.wall), event.server_id, levelOf(event), loggerOf(event), textOf(event)]
    .filter(Boolean)
    .join(" ");

export const asText = (rows: EventView[]): string =>
  rows.map((event) => `${lineOf(event)}\n`).join("");

/** One JSON object a line, with the moment and the request where it is known. */
export const asJsonLines = (
  rows: EventView[],
  requestOf: (event: EventView) => string | number | undefined,
): string =>
  rows
    .map((event) => {
      const said = isStderr(event) ? textOf(event) : event.detail.data;
      const line = {
        time: new Date(event.wall * 1000).toISOString(),
        server: event.server_id,
        level: levelOf(event),
        logger: loggerOf(event) || undefined,
        request: requestOf(event),
        data: said,
      };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
