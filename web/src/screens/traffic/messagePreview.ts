// The item that a message names, and a preview of its payload, both from its first bytes.
import type { EventView } from "../../api/types";
import { type JsonPart, readMembers, readString } from "../../values/partialJson";
import { eventLabel } from "./eventLabel";

// The member of the params that names the item.
const NAMES = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["resources/subscribe", "uri"],
  ["resources/unsubscribe", "uri"],
  ["notifications/resources/updated", "uri"],
]);
const ENVELOPE = new Set(["jsonrpc", "id", "method"]);

const isFrame = ({ kind }: EventView): boolean => kind === "FrameSent" || kind === "FrameReceived";

function completed(params: Map<string, JsonPart>): string | null {
  const ref = readMembers(params.get("ref")?.text ?? "");
  return readString(ref.get("name")) ?? readString(ref.get("uri"));
}

/** The tool, resource or prompt that a message names; null if it is not in the first bytes. */
export function targetOf(event: EventView): string | null {
  const { method, status } = event;
  if (!isFrame(event) || !method || (status !== "request" && status !== "notification"))
    return null;
  const name = NAMES.get(method);
  if (name === undefined && method !== "completion/complete") return null;
  const params = readMembers(readMembers(event.head).get("params")?.text ?? "");
  return name === undefined ? completed(params) : readString(params.get(name));
}

/** Beginning of a message's payload, without what its row already says. */
export function previewOf(event: EventView): string {
  if (!isFrame(event)) return event.head;
  const members = readMembers(event.head);
  const carried = members.get("params") ?? members.get("result") ?? members.get("error");
  if (carried) return carried.text;
  const isBare = members.size > 0 && [...members.keys()].every((name) => ENVELOPE.has(name));
  return isBare && event.status !== "malformed" ? "" : event.head;
}

/** Label of an event with the item that it names. */
export function eventTitle(event: EventView): string {
  const called = targetOf(event);
  return called === null ? eventLabel(event) : `${eventLabel(event)} ${called}`;
}
