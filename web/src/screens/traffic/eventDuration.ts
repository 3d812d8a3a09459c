// How long what an event tells of took.
import type { EventView } from "../../api/types";
import type { EventRing, Joined } from "../../state/events";

/** In seconds, as far as it is over; null for what does not last. */
export const durationOf = (event: EventView, joined: Joined): number | null =>
  joined.elapsed_s ?? (typeof event.detail.elapsed_s === "number" ? event.detail.elapsed_s : null);

/** Also of a request that still waits for its answer. */
export function durationSoFar(event: EventView, ring: EventRing, now: number): number | null {
  const took = durationOf(event, ring.joined(event));
  if (took !== null || event.status !== "request") return took;
  // This one is meant to stay open.
  return event.method === "subscriptions/listen" ? null : now - event.wall;
}
