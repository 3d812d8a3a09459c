// What the rows of Traffic add up to: requests, errors, bytes, and how long requests take.
import type { EventView } from "../../api/types";
import { isInbound } from "../../state/eventLinks";
import { durationOf } from "./eventDuration";
import { elapsedOf, eventsOf, isPendingRow, type RowContext, statusOf } from "./rowFacts";

export interface TrafficSummary {
  requests: number;
  errors: number;
  waiting: number;
  size_bytes: number;
  /** Seconds; null if nothing was answered. */
  median_s: number | null;
  p95_s: number | null;
}

/** The value below which this share of sorted values lies. */
export function quantile(sorted: Float64Array, share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** A request to a server that was sent for a client's request is the same call once more. */
const isCounted = (event: EventView, { arrangement, ring }: RowContext): boolean => {
  if (arrangement === "http") return event.kind === "HttpRequestSent";
  return event.status === "request" && (isInbound(event) || !ring.links.inboundOf(event));
};

/**
 * Seconds that a request took. How long people think about a question, of a server or of an app, or
 * between the rounds of a call, says nothing about the server.
 */
function serverTimeOf(row: EventView, context: RowContext): number | null {
  if (row.kind === "FrameReceived" || row.kind === "AppMessageReceived") return null;
  const { ring } = context;
  const isOnlyRound = ring.links.lastRoundOf(row) === row;
  return isOnlyRound ? elapsedOf(row, context) : durationOf(row, ring);
}

/** Sums of the rows in any order; a request and its answer count once, also one by one. */
export function summaryOf(rows: EventView[], context: RowContext): TrafficSummary {
  const paired: RowContext =
    context.arrangement === "wire" ? { ...context, arrangement: "paired" } : context;
  const durations: number[] = [];
  let [requests, errors, waiting, size_bytes] = [0, 0, 0, 0];
  for (const row of rows) {
    for (const event of eventsOf(row, context)) size_bytes += event.size_bytes;
    const isRequest = isCounted(row, paired);
    // One by one, the row of the answer says that it failed; a call of several rounds failed in the
    // last of them, which has a row of its own.
    const { tone } = statusOf(row, context);
    if (tone === "bad" && context.ring.links.lastRoundOf(row) === row) errors += 1;
    if (!isRequest) continue;
    requests += 1;
    if (isPendingRow(row, paired)) waiting += 1;
    const elapsed_s = serverTimeOf(row, paired);
    if (elapsed_s !== null) durations.push(elapsed_s);
  }
  const sorted = Float64Array.from(durations).sort();
  return {
    requests,
    errors,
    waiting,
    size_bytes,
    median_s: quantile(sorted, 0.5),
    p95_s: quantile(sorted, 0.95),
  };
}
