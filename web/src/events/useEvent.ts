// Looks up an event by seq: in the ring, among the pins, or in the recording.
import type { EventView } from "../api/types";
import type { EventRing } from "../state/events";
import { type EventProblem, useWholeEvent } from "../state/wholeEvent";
import { usePins } from "./pins";

/** The event, or why it was not found; neither while it is being loaded. */
interface EventLookup extends Partial<EventProblem> {
  event?: EventView;
}

interface EventId {
  run_id: string | null;
  seq: number | null;
}

export function useEvent(ring: EventRing, { run_id, seq }: EventId): EventLookup {
  const pins = usePins((state) => state.list);
  const isIt = (event?: EventView): boolean => event?.seq === seq && event?.run_id === run_id;
  const found = seq === null ? undefined : ring.find(seq);
  const near = isIt(found) ? found : pins.find((pin) => isIt(pin.event))?.event;
  const isFar = near === undefined && run_id !== null && seq !== null;
  const far = useWholeEvent(isFar ? { run_id, seq } : null);
  if (near) return { event: near };
  return far && "whole" in far ? { event: far.whole.event } : (far ?? {});
}
