// Identical notifications one after another, which are shown as one row: a server that changes a
// list seven times says the same seven times.
import type { EventView } from "../../api/types";
import type { EventRing } from "../../state/events";
import { indexOfSeq } from "../../values/seqIndex";
import { isInLayer, isMessage } from "./eventLabel";
import { OWN_PURPOSES } from "./trafficFilter";

/** A notification that belongs to no request. */
const isAlone = (event: EventView, { links }: EventRing): boolean =>
  event.kind === "FrameReceived" && event.status === "notification" && !links.parentOf(event);

const isSame = (one: EventView, other: EventView): boolean =>
  one.method === other.method && one.head === other.head && one.size_bytes === other.size_bytes;

/** The first of the identical notifications before an event, if it is one of them. */
export type FirstOfRepeats = (event: EventView) => EventView | undefined;

/**
 * What is between two of them: requests of mcplens's own, which are sent for each change, count
 * only where they are shown.
 */
export function repeatsIn(ring: EventRing, withOwn: boolean): FirstOfRepeats {
  const { links } = ring;
  const known = new WeakMap<EventView, EventView>();
  const isBetween = (event: EventView): boolean =>
    isInLayer(event, "messages") &&
    (withOwn || !isMessage(event) || !OWN_PURPOSES.has(links.purposeOf(event)));
  const before = (event: EventView): EventView | undefined => {
    const at = indexOfSeq(ring.items, event.seq);
    for (let index = at - 1; index >= 0; index -= 1) {
      const one = ring.items[index] as EventView;
      if (one.server_id === event.server_id && isBetween(one)) return one;
    }
    return undefined;
  };
  return (event) => {
    if (!isAlone(event, ring)) return undefined;
    const found = known.get(event);
    if (found) return found === event ? undefined : found;
    const former = before(event);
    const isRepeat = former !== undefined && isAlone(former, ring) && isSame(former, event);
    const first = isRepeat ? (known.get(former) ?? former) : event;
    known.set(event, first);
    return first === event ? undefined : first;
  };
}
