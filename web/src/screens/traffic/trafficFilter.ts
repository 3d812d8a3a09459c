// Filters rows of Traffic.
import type { EventView } from "../../api/types";
import { directionOf, eventLabel, isInLayer, type Layer } from "./eventLabel";
import type { SearchMatches } from "./fullTextSearch";

export type Status =
  | "any"
  | "errors"
  | "malformed"
  | "request"
  | "result"
  | "error"
  | "notification"
  | "2xx"
  | "3xx"
  | "4xx"
  | "5xx";
export type Time = "any" | "1" | "5" | "between";

export interface TrafficFilter {
  layer: Layer;
  direction: "both" | "out" | "in";
  status: Status;
  /** A method; empty for all. */
  method: string;
  /** Excluded methods, with their answers. */
  hidden: string[];
  /** Excluded purposes: whatever belongs to a request that was made for one of them. */
  hiddenPurposes: string[];
  /** Whether what mcplens does on its own is shown: pings, lists, polling. */
  ours: boolean;
  /** A server's id, ALL, or empty for the one that the address names. */
  server: string;
  /** The last minutes, or a range. */
  time: Time;
  /** Values of datetime-local inputs: 2026-11-16T04:30. */
  from: string;
  to: string;
  /** Minimum duration in milliseconds; null for all. */
  slower: number | null;
  text: string;
}

export const ALL_SERVERS = "*";

/** Purposes of requests that nobody asked for; the handshake is shown, since all else follows it. */
export const OWN_PURPOSES: ReadonlySet<string | null> = new Set([
  "heartbeat",
  "catalog",
  "listening",
  "task_polling",
]);

export const NO_FILTER: TrafficFilter = {
  layer: "messages",
  direction: "both",
  status: "any",
  method: "",
  hidden: [],
  hiddenPurposes: [],
  ours: false,
  server: "",
  time: "any",
  from: "",
  to: "",
  slower: null,
  text: "",
};

/** Number of active options in the filter popover. */
export const activeCount = (filter: TrafficFilter): number =>
  (["direction", "status", "method", "server", "time", "slower"] as const).filter(
    (name) => filter[name] !== NO_FILTER[name],
  ).length + [filter.hidden, filter.hiddenPurposes].filter((some) => some.length > 0).length;

const isFailed = (event: EventView): boolean =>
  (event.status === "error" && !event.is_expected) ||
  event.is_error ||
  event.malformed !== null ||
  Number(event.status) >= 400 ||
  event.kind === "ReplyUnmatched" ||
  (event.kind === "RequestEnded" && event.status !== "completed") ||
  (event.kind === "InboundAnswered" && event.detail.outcome !== "ok");

function hasStatus(event: EventView, status: Status): boolean {
  if (status === "errors") return isFailed(event);
  // What breaks the protocol, as the count of problems of a session has it.
  if (status === "malformed") return event.malformed !== null || event.kind === "ReplyUnmatched";
  if (status.endsWith("xx"))
    return event.kind === "HttpResponseReceived" && String(event.status)[0] === status[0];
  return event.status === status;
}

const secondsOf = (text: string, otherwise: number): number => {
  const millis = text ? new Date(text).getTime() : Number.NaN;
  return Number.isNaN(millis) ? otherwise : millis / 1000;
};

/** The time range in wall clock seconds; `now` is the end of "the last minutes". */
export function timeRange({ time, from, to }: TrafficFilter, now: number): [number, number] {
  if (time === "between")
    // The end minute is included.
    return [
      secondsOf(from, Number.NEGATIVE_INFINITY),
      secondsOf(to, Number.POSITIVE_INFINITY) + 60,
    ];
  if (time === "any") return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [now - Number(time) * 60, Number.POSITIVE_INFINITY];
}

export const searchWords = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

interface MatchContext {
  found?: SearchMatches;
  now?: number;
  /** Events up to this one were cleared from view. */
  after?: number;
  /** Duration so far in seconds; null for events without a duration. */
  lastedOf?: (event: EventView, now: number) => number | null;
  purposeOf?: (event: EventView) => string | null;
  /** Whether a message is an event of an HTTP stream, which are shown beneath their exchange. */
  isStreamed?: (event: EventView) => boolean;
  /** Whether an event belongs to the request, call or exchange that the address names. */
  isLinked?: (event: EventView) => boolean;
}

export function trafficMatcher(
  filter: TrafficFilter,
  serverId: string | null,
  {
    found,
    now = Date.now() / 1000,
    after = 0,
    lastedOf = () => null,
    purposeOf = ({ purpose }) => purpose,
    isStreamed = () => false,
    isLinked = () => true,
  }: MatchContext = {},
): (event: EventView) => boolean {
  const { layer, direction, status, method } = filter;
  const hidden = new Set(filter.hidden);
  // Who names a method wants to see it, whatever it is for.
  const hidesOurs = !filter.ours && method === "";
  const purposes = new Set<string | null>(filter.hiddenPurposes);
  const [since, until] = timeRange(filter, now);
  const least_s = filter.slower === null ? null : filter.slower / 1000;
  // Case-insensitive without lowercasing every event.
  const words = searchWords(filter.text.toLowerCase()).map((word) => ({
    word,
    in: new RegExp(escaped(word), "i"),
  }));
  return (event) => {
    if (serverId !== null && event.server_id !== serverId) return false;
    if (event.seq <= after || event.wall < since || event.wall > until) return false;
    if (!isInLayer(event, layer) && !(layer === "http" && isStreamed(event))) return false;
    if (method && event.method !== method) return false;
    if (event.method !== null && hidden.has(event.method)) return false;
    if (purposes.size > 0 && purposes.has(purposeOf(event))) return false;
    if (hidesOurs && OWN_PURPOSES.has(purposeOf(event))) return false;
    if (!isLinked(event)) return false;
    if (direction !== "both" && directionOf(event) !== direction) return false;
    if (status !== "any" && !hasStatus(event, status)) return false;
    if (least_s !== null && (lastedOf(event, now) ?? 0) <= least_s) return false;
    return words.every(
      ({ word, in: pattern }) =>
        pattern.test(event.head) ||
        pattern.test(eventLabel(event)) ||
        pattern.test(event.server_id) ||
        (typeof event.detail.client_name === "string" && pattern.test(event.detail.client_name)) ||
        (event.request_id !== null && pattern.test(String(event.request_id))) ||
        found?.get(word)?.has(event.seq) === true,
    );
  };
}
