// Durations of requests and other events.
import type { EventView } from "../../api/types";
import type { EventRing } from "../../state/events";

/** Seconds, if it has ended; null for events without a duration. */
export const durationOf = (event: EventView, { links }: EventRing): number | null =>
  links.elapsedOf(event) ??
  (typeof event.detail.elapsed_s === "number" ? event.detail.elapsed_s : null);

/** Also for a request that is still waiting for its answer. */
export const durationSoFar = (event: EventView, ring: EventRing, now: number): number | null =>
  ring.links.isPending(event) ? now - event.wall : durationOf(event, ring);
