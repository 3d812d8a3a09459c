// Which HTTP exchange carried a message, found among the events around it.
import type { EventView } from "../../api/types";
import type { EventRing } from "../../state/events";

// An exchange begins this close to the message that it carries.
const NEAR = 40;
// How far back the request is looked for whose answer is a stream.
const FAR = 20_000;

const isHttp = ({ kind }: EventView): boolean => kind.startsWith("Http");

const exchangeId = (event: EventView): number | null =>
  typeof event.detail.exchange_id === "number" ? event.detail.exchange_id : null;

/** Where the event stands, or would. */
function placeOf(items: EventView[], seq: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The exchange that a message of ours was sent in. */
function ofSent(items: EventView[], sent: EventView): EventView | undefined {
  const at = placeOf(items, sent.seq);
  const near = items.slice(Math.max(0, at - NEAR), at + NEAR);
  return near.find(
    (one) =>
      one.kind === "HttpRequestSent" &&
      one.server_id === sent.server_id &&
      one.head === sent.head &&
      one.size_bytes === sent.size_bytes,
  );
}

/** The request of ours whose answer carried a message that came. */
function carrierOf(items: EventView[], event: EventView): EventView | undefined {
  const isReply = event.status === "result" || event.status === "error";
  const channel = event.detail.channel ?? (isReply ? event.request_id : null);
  if (channel === null) return undefined;
  const at = placeOf(items, event.seq);
  for (let index = at - 1; index >= Math.max(0, at - FAR); index -= 1) {
    const one = items[index] as EventView;
    if (
      one.kind === "FrameSent" &&
      one.status === "request" &&
      one.server_id === event.server_id &&
      one.request_id === channel
    )
      return one;
  }
  return undefined;
}

/** The piece of a stream that a message came in: the last piece before it. */
function pieceOf(items: EventView[], event: EventView): EventView | undefined {
  const at = placeOf(items, event.seq);
  return items
    .slice(Math.max(0, at - NEAR), at)
    .findLast((one) => one.kind === "HttpBytesReceived" && one.server_id === event.server_id);
}

function memberOf(items: EventView[], event: EventView): EventView | undefined {
  if (isHttp(event)) return event;
  if (event.kind === "FrameSent") return ofSent(items, event);
  if (event.kind !== "FrameReceived") return undefined;
  const carrier = carrierOf(items, event);
  return (carrier && ofSent(items, carrier)) ?? pieceOf(items, event);
}

/** All parts of the exchange that carried an event, in order; none where none did. */
export function exchangeOf({ items }: EventRing, event: EventView): EventView[] {
  const member = memberOf(items, event);
  const id = member ? exchangeId(member) : null;
  if (!member || id === null) return [];
  const isPart = (one: EventView): boolean =>
    isHttp(one) && one.server_id === member.server_id && exchangeId(one) === id;
  const parts = items.filter(isPart);
  // A server that is connected anew counts anew: only what lies between two beginnings.
  const starts = parts.filter((one) => one.kind === "HttpRequestSent");
  const first = starts.findLast((one) => one.seq <= member.seq);
  const next = starts.find((one) => one.seq > member.seq);
  return parts.filter(
    (one) => one.seq >= (first?.seq ?? 0) && one.seq < (next?.seq ?? Number.POSITIVE_INFINITY),
  );
}
