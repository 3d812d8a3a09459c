// Options of the Traffic filter, and a description of the current one.
import { formatDateTime } from "../../values/format";
import {
  ALL_SERVERS,
  NO_FILTER,
  type Status,
  type TrafficFilter,
  timeRange,
} from "./trafficFilter";

export const LAYERS = [
  { value: "messages", label: "Messages" },
  { value: "http", label: "HTTP" },
  { value: "connection", label: "Connection" },
  { value: "everything", label: "All events" },
];
export const DIRECTIONS = [
  { value: "both", label: "Both ways" },
  { value: "out", label: "Sent" },
  { value: "in", label: "Received" },
];
export const STATUSES: { group: string; items: { value: Status; label: string }[] }[] = [
  {
    group: "All layers",
    items: [
      { value: "any", label: "Any" },
      { value: "errors", label: "Anything that failed" },
    ],
  },
  {
    group: "Messages",
    items: [
      { value: "request", label: "Requests" },
      { value: "result", label: "Results" },
      { value: "error", label: "Errors" },
      { value: "notification", label: "Notifications" },
      { value: "malformed", label: "Malformed" },
    ],
  },
  {
    group: "HTTP",
    items: [
      { value: "2xx", label: "2xx, success" },
      { value: "3xx", label: "3xx, redirect" },
      { value: "4xx", label: "4xx, client error" },
      { value: "5xx", label: "5xx, server error" },
    ],
  },
];
export const TIMES = [
  { value: "any", label: "Any time" },
  { value: "1", label: "The last minute" },
  { value: "5", label: "The last 5 minutes" },
  { value: "between", label: "From … to …" },
];

const PURPOSES: Record<string, string> = {
  catalog: "lists",
  heartbeat: "pings",
  listening: "subscription stream",
  raw: "raw message",
};

/** What a request was made for, in words; a later mcplens may know other purposes. */
export const purposeLabel = (purpose: string): string =>
  PURPOSES[purpose] ?? purpose.replaceAll("_", " ");

const labelOf = (choices: { value: string; label: string }[], value: string): string =>
  choices.find((one) => one.value === value)?.label ?? value;

function timeWords(filter: TrafficFilter): string {
  if (filter.time !== "between") return labelOf(TIMES, filter.time);
  const [since, until] = timeRange(filter, 0);
  const from = Number.isFinite(since) ? `from ${formatDateTime(since)}` : "";
  return [from, Number.isFinite(until) ? `to ${formatDateTime(until)}` : ""]
    .filter(Boolean)
    .join(" ");
}

/** Description of a filter, one text per option; empty if nothing is filtered. */
export function describeTrafficFilter(filter: TrafficFilter, link: string | null): string[] {
  const isChosen = (name: keyof TrafficFilter): boolean => filter[name] !== NO_FILTER[name];
  const statuses = STATUSES.flatMap((group) => group.items);
  const words = [
    filter.text.trim() && `“${filter.text.trim()}”`,
    isChosen("layer") && filter.layer !== "everything" && labelOf(LAYERS, filter.layer),
    isChosen("direction") && labelOf(DIRECTIONS, filter.direction),
    isChosen("status") && labelOf(statuses, filter.status),
    filter.method,
    filter.hidden.length > 0 && `without ${filter.hidden.join(", ")}`,
    filter.hiddenPurposes.length > 0 &&
      `not for ${filter.hiddenPurposes.map(purposeLabel).join(", ")}`,
    isChosen("server") && filter.server !== ALL_SERVERS && `server ${filter.server}`,
    isChosen("time") && timeWords(filter),
    filter.slower !== null && `slower than ${filter.slower.toLocaleString("en")} ms`,
    link,
  ];
  return words.filter((word): word is string => Boolean(word));
}
