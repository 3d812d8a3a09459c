// The eight levels of MCP logging, and log rows as text and as JSON.
import { fetchEvent } from "../../api/http";
import type { EventView, WholeEvent } from "../../api/types";
import { formatTime } from "../../values/format";

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

/** What can be shown or hidden: the levels, and stderr. */
export const SHOWN_LEVELS: readonly string[] = [...LEVELS, "stderr"];

export const isStderr = (event: EventView): boolean => event.kind === "StderrLine";

export const isLog = (event: EventView): boolean => event.kind === "LogReceived" || isStderr(event);

export const levelOf = (event: EventView): string =>
  isStderr(event) ? "stderr" : String(event.detail.level ?? "info");

export const loggerOf = (event: EventView): string =>
  typeof event.detail.logger === "string" ? event.detail.logger : "";

/** The content that a row has; a truncated line of stderr ends with "…". */
export const rowContent = (event: EventView): unknown =>
  isStderr(event) ? event.head + (event.is_cut ? "…" : "") : event.detail.data;

/** The full content. */
export const fullContent = ({ event, text }: WholeEvent): unknown =>
  isStderr(event) ? (text ?? rowContent(event)) : event.detail.data;

export function textOf(event: EventView, said = rowContent(event)): string {
  return typeof said === "string" ? said : (JSON.stringify(said) ?? "");
}

export const lineOf = (event: EventView, said = rowContent(event)): string =>
  [formatTime(event.wall), event.server_id, levelOf(event), loggerOf(event), textOf(event, said)]
    .filter(Boolean)
    .join(" ");

/** A log event with its content. */
export interface LogLine {
  event: EventView;
  said: unknown;
  /** The rest could not be loaded. */
  isPart: boolean;
}

// Browsers open six connections per host.
const AT_ONCE = 6;

/** The rows with full content; truncated ones are fetched. */
export async function loadLines(rows: EventView[], fetch = fetchEvent): Promise<LogLine[]> {
  const spoken = rows.map(
    (event): LogLine => ({
      event,
      said: rowContent(event),
      isPart: event.is_cut,
    }),
  );
  const cut = spoken.filter((one) => one.isPart).values();
  const work = async (): Promise<void> => {
    for (const one of cut) {
      const whole = await fetch(one.event.run_id, one.event.seq).catch(() => null);
      if (whole === null) continue;
      one.said = fullContent(whole);
      one.isPart = whole.text_is_cut || (whole.event.is_cut && !isStderr(one.event));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return spoken;
}

export const asTextLines = (lines: LogLine[]): string =>
  lines.map(({ event, said }) => `${lineOf(event, said)}\n`).join("");

/** One JSON object a line, with the time and the request where it is known. */
export const asJsonLines = (
  lines: LogLine[],
  requestOf: (event: EventView) => EventView | undefined,
): string =>
  lines
    .map(({ event, said }) => {
      const line = {
        time: new Date(event.wall * 1000).toISOString(),
        server: event.server_id,
        level: levelOf(event),
        logger: loggerOf(event) || undefined,
        request: requestOf(event)?.request_id,
        request_seq: event.request_seq ?? undefined,
        data: said,
      };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
