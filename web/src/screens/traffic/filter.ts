// Which rows of traffic are wanted.
import type { EventView } from "../../api/types";
import { describe, directionOf, isOf, type Layer } from "./describe";
import type { Found } from "./found";

export interface TrafficFilter {
  layer: Layer;
  direction: "both" | "out" | "in";
  only: "all" | "errors" | "malformed";
  text: string;
  /** Only what belongs to this JSON-RPC id. */
  request_id?: string | null;
}

export const EVERYTHING: TrafficFilter = {
  layer: "messages",
  direction: "both",
  only: "all",
  text: "",
};

const isFailed = (event: EventView): boolean =>
  event.status === "error" ||
  event.malformed !== null ||
  Number(event.status) >= 400 ||
  event.kind === "ReplyUnmatched" ||
  (event.kind === "RequestEnded" && event.status !== "completed");

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

export function wantedBy(
  filter: TrafficFilter,
  serverId: string | null,
  found?: Found,
): (event: EventView) => boolean {
  const words = wordsOf(filter.text.toLowerCase());
  return (event) => {
    if (serverId !== null && event.server_id !== serverId) return false;
    if (!isOf(event, filter.layer)) return false;
    if (filter.request_id && String(event.request_id) !== filter.request_id) return false;
    if (filter.direction !== "both" && directionOf(event) !== filter.direction) return false;
    if (filter.only === "malformed" && event.malformed === null) return false;
    if (filter.only === "errors" && !isFailed(event)) return false;
    if (!words.length) return true;
    const whole =
      `${describe(event)} ${event.request_id ?? ""} ${event.server_id} ${event.head}`.toLowerCase();
    return words.every((word) => whole.includes(word) || found?.get(word)?.has(event.seq));
  };
}
