// How events become rows: a request with its answer, an HTTP exchange with the events of its stream
// beneath, or one by one.
import type { EventView } from "../../api/types";
import { isHttp, isInbound, isReply } from "../../state/eventLinks";
import type { EventRing } from "../../state/events";
import type { Layer } from "./eventLabel";
import { repeatsIn } from "./repeats";
import type { Arrangement } from "./rowFacts";

export const arrangementOf = (layer: Layer, isWire: boolean): Arrangement => {
  if (isWire) return "wire";
  return layer === "http" ? "http" : "paired";
};

export interface TreeRules {
  parentOf(event: EventView): EventView | undefined;
  /** Whether an event is shown in the row of its parent. */
  isMerged(event: EventView): boolean;
  /** Whether a row is folded until it is opened. */
  startsClosed(event: EventView): boolean;
}

/** The row of an exchange, which is that of its HTTP request. */
function exchangeRow({ links }: EventRing, event: EventView): EventView | undefined {
  if (event.exchange_id === null) return undefined;
  const first = links.partsOf(event.exchange_id)[0];
  const isRow = first?.kind === "HttpRequestSent" && first.run_id === event.run_id;
  return isRow && first.seq < event.seq ? first : undefined;
}

/** The malformed message that is reported as an answer to nothing: its own row says it all. */
function brokenFrame(ring: EventRing, { kind, detail, run_id }: EventView): EventView | undefined {
  if (kind !== "ReplyUnmatched" || typeof detail.frame_seq !== "number") return undefined;
  const frame = ring.find(detail.frame_seq);
  return frame?.malformed && frame.run_id === run_id ? frame : undefined;
}

export function treeRules(ring: EventRing, arrangement: Arrangement, withOwn = false): TreeRules {
  const { links } = ring;
  if (arrangement === "http")
    return {
      parentOf: (event) => exchangeRow(ring, event),
      isMerged: (event) => isHttp(event) && exchangeRow(ring, event) !== undefined,
      startsClosed: () => true,
    };
  const firstOf = repeatsIn(ring, withOwn);
  return {
    parentOf: (event) => brokenFrame(ring, event) ?? links.parentOf(event) ?? firstOf(event),
    isMerged: (event) => {
      if (brokenFrame(ring, event)) return true;
      const isEnd = isReply(event) || event.kind === "InboundAnswered";
      if (!isEnd && event.status !== "batch") return false;
      const asked = links.endedBy(event);
      return asked !== undefined && links.answerOf(asked) === event;
    },
    // Both hops of a call through the gateway are one row, which opens to the second; so are
    // identical notifications.
    startsClosed: (event) => isInbound(event) || event.status === "notification",
  };
}
