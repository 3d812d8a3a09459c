// Durations of requests and other events.
import type { EventView } from "../../api/types";
import type { EventRing, Joined } from "../../state/events";

/** Seconds, if it has ended; null for events without a duration. */
export const durationOf = (event: EventView, joined: Joined): number | null =>
  joined.elapsed_s ?? (typeof event.detail.elapsed_s === "number" ? event.detail.elapsed_s : null);

/** Also for a request that is still waiting for its answer. */
export function durationSoFar(event: EventView, ring: EventRing, now: number): number | null {
  const took = durationOf(event, ring.joined(event));
  if (took !== null || event.status !== "request") return took;
  // This request stays open on purpose.
  return event.method === "subscriptions/listen" ? null : now - event.wall;
}
