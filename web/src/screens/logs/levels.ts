// The eight levels of MCP logging, and log rows as text.
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

export const isLog = (event: EventView): boolean =>
  event.kind === "LogReceived" || event.kind === "StderrLine";

export const levelOf = (event: EventView): string =>
  event.kind === "StderrLine" ? "stderr" : String(event.detail.level ?? "info");

export function textOf(event: EventView): string {
  if (event.kind === "StderrLine") return event.head;
  const { data } = event.detail;
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "");
}

export const lineOf = (event: EventView): string =>
  `${clock(event.wall)} ${event.server_id} ${levelOf(event)} ${event.detail.logger ?? ""} ${textOf(event)}`;
