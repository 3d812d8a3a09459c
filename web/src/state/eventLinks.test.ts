import { describe, expect, it } from "vitest";
import type { EventView } from "../api/types";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";
import { type LinkFilter, linkFilterOf, linkMatcher, linkWords, withLink } from "./linkFilter";

type Part = Partial<EventView> & { seq: number };
const sent = (part: Part) => anEvent({ method: "tools/call", status: "request", ...part });
const came = (part: Part) => anEvent({ kind: "FrameReceived", status: "result", ...part });
const http = (seq: number, exchange_id: number | null, kind = "HttpRequestSent") =>
  anEvent({ seq, kind, exchange_id });

function ringOf(events: EventView[], capacity = 1_000): EventRing {
  const ring = new EventRing(capacity, (run) => run());
  ring.append(events);
  return ring;
}

const at = (ring: EventRing, seq: number): EventView => {
  const event = ring.find(seq);
  if (!event) throw new Error(`${seq} is not in the ring`);
  return event;
};
const answerTo = (ring: EventRing, seq: number) => ring.links.answerOf(at(ring, seq))?.seq;
const requestOf = (ring: EventRing, seq: number) => ring.links.requestOf(at(ring, seq))?.seq;
const elapsed = (ring: EventRing, seq: number) => ring.links.elapsedOf(at(ring, seq));

describe("the request of a reply", () => {
  it("is the one that it links to, of equal requests and with replies out of order", () => {
    const equal = { request_id: null, head: "same", size_bytes: 4 };
    const ring = ringOf([
      ...[1, 2, 3].map((seq) => sent({ seq, ...equal })),
      came({ seq: 4, request_seq: 3, ...equal }),
      came({ seq: 5, request_seq: 1, ...equal }),
      came({ seq: 6, request_seq: 2, ...equal }),
    ]);
    expect([1, 2, 3].map((seq) => answerTo(ring, seq))).toEqual([5, 6, 4]);
    expect([4, 5, 6].map((seq) => requestOf(ring, seq))).toEqual([3, 1, 2]);
    expect([1, 2, 3, 4].map((seq) => elapsed(ring, seq))).toEqual([4, 4, 1, 1]);
  });
  it("is told from a raw frame that uses its id", () => {
    const ring = ringOf([
      sent({ seq: 1, request_id: 7 }),
      sent({ seq: 2, request_id: 7, purpose: "raw" }),
      came({ seq: 3, request_id: 7, request_seq: 2 }),
      came({ seq: 4, request_id: 7, request_seq: 1 }),
      came({ seq: 5, request_id: 7, request_seq: 1 }),
    ]);
    expect([1, 2].map((seq) => answerTo(ring, seq))).toEqual([4, 3]);
    // A second reply leads to the request as well.
    expect(requestOf(ring, 5)).toBe(1);
  });
  it("may be a batch, answered by one or by several messages", () => {
    const ring = ringOf([
      anEvent({ seq: 1, status: "batch" }),
      anEvent({ seq: 2, status: "batch" }),
      came({ seq: 3, request_seq: 2, request_id: 1 }),
      came({ seq: 4, request_seq: 2, request_id: 2 }),
      came({ seq: 5, status: "batch", request_seq: 1 }),
      sent({ seq: 6 }),
      came({ seq: 7, status: "batch", request_seq: 6 }), // notifications
    ]);
    expect([1, 2, 6].map((seq) => answerTo(ring, seq))).toEqual([5, 3, undefined]);
    expect([3, 4, 5].map((seq) => elapsed(ring, seq))).toEqual([1, 2, 4]);
  });
  it("is the first frame of one that was sent again", () => {
    const ring = ringOf([
      sent({ seq: 1, exchange_id: 1 }),
      sent({ seq: 2, exchange_id: 2, request_seq: 1 }),
      came({ seq: 5, exchange_id: 2, request_seq: 1 }),
    ]);
    expect([1, 2].map((seq) => elapsed(ring, seq))).toEqual([4, 3]);
    expect(ring.links.isPending(at(ring, 2))).toBe(false);
  });
  it("leads from an app to what it caused at its server", () => {
    const ring = ringOf([
      anEvent({ seq: 1, kind: "AppMessageReceived", status: "request", detail: { app_id: "a1" } }),
      sent({ seq: 2, caused_by_seq: 1 }),
      came({ seq: 3, request_seq: 2 }),
      sent({ seq: 4 }),
    ]);
    const of = linkMatcher(ring, { name: "app", value: "a1" });
    expect(ring.items.filter(of).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });
  it("is found when it is merged in later, and nothing is where it is not there", () => {
    const ring = ringOf([came({ seq: 8, request_seq: 6 }), anEvent({ seq: 9 })], 3);
    expect(requestOf(ring, 8)).toBeUndefined();
    expect(elapsed(ring, 8)).toBeNull();
    ring.merge([anEvent({ seq: 5 }), sent({ seq: 6 }), anEvent({ seq: 9 })]);
    expect(ring.items.map((event) => event.seq)).toEqual([5, 6, 8, 9]);
    expect([elapsed(ring, 6), elapsed(ring, 8)]).toEqual([2, 2]);
    expect(ring.links.parentOf(at(ring, 8))?.seq).toBe(6);
  });
  it("is not one of another run, as a pinned event may be", () => {
    const ring = ringOf([sent({ seq: 1, exchange_id: 1 }), came({ seq: 2, request_seq: 1 })]);
    const { links } = ring;
    const other = { run_id: "other" };
    expect(links.requestOf(came({ seq: 3, request_seq: 1, ...other }))).toBeUndefined();
    expect(links.answerOf(sent({ seq: 1, ...other }))).toBeUndefined();
    expect(links.elapsedOf(sent({ seq: 1, ...other }))).toBeNull();
    expect(links.callIdOf({ ...http(3, 1), ...other })).toBeNull();
  });
  it("is forgotten when it falls out of the ring", () => {
    const ring = ringOf([sent({ seq: 1, exchange_id: 1 }), http(2, 1)], 10);
    for (let seq = 3; seq <= 5_010; seq += 1) ring.append([http(seq, 2, "HttpBytesReceived")]);
    ring.append([came({ seq: 5_011, request_seq: 1 }), anEvent({ seq: 5_012 })]);
    expect(ring.find(1)).toBeUndefined();
    expect(requestOf(ring, 5_011)).toBeUndefined();
    expect(ring.links.partsOf(1)).toEqual([]);
    expect(ring.links.partsOf(2)[0]?.seq).toBe(ring.items[0]?.seq);
  });
});

describe("the end of a request", () => {
  it("is known where it has no answer, also when a late one comes", () => {
    const ended = (seq: number, request_seq: number, status: string, code?: string) => {
      const detail = { elapsed_s: 1, ...(code && { error: { code } }) };
      return anEvent({ seq, kind: "RequestEnded", request_seq, status, detail });
    };
    const ring = ringOf([
      ...[1, 2, 3, 4].map((seq) => sent({ seq })),
      ended(5, 1, "error", "REQUEST_TIMEOUT"),
      ended(6, 2, "cancelled"),
      ended(7, 3, "error", "CONNECTION_LOST"),
      came({ seq: 8, request_seq: 4 }),
      ended(9, 4, "error", "RPC_ERROR"),
      came({ seq: 10, request_seq: 1 }),
      sent({ seq: 11 }),
      ended(12, 11, "error", "SERVER_EXITED"),
      sent({ seq: 13 }),
      ended(14, 13, "error", "NO_RESPONSE"),
    ]);
    expect([1, 2, 3, 4, 11, 13].map((seq) => ring.links.outcomeOf(at(ring, seq)))).toEqual([
      "timed out",
      "cancelled",
      "connection lost",
      undefined,
      "server exited",
      "no answer",
    ]);
    expect([1, 2].map((seq) => elapsed(ring, seq))).toEqual([9, 1]);
    expect(ring.links.endedBy(at(ring, 6))?.seq).toBe(2);
  });
  it("is waited for unless the stream stays open, or the recording has no links", () => {
    const isPending = (...events: EventView[]) =>
      ringOf(events).links.isPending(events[0] as EventView);
    expect(isPending(sent({ seq: 1, purpose: "call" }))).toBe(true);
    expect(isPending(sent({ seq: 1, purpose: "listening" }))).toBe(false);
    expect(isPending(sent({ seq: 1 }), came({ seq: 2 }))).toBe(false);
  });
  it("of a question is where it was closed", () => {
    const ring = ringOf([
      anEvent({ seq: 1, kind: "QuestionOpened" }),
      anEvent({ seq: 2, kind: "QuestionOpened" }),
      anEvent({ seq: 5, kind: "QuestionClosed", detail: { opened_seq: 1 } }),
      anEvent({ seq: 6, kind: "QuestionClosed", detail: { opened_seq: 0 } }),
    ]);
    expect([1, 2, 5, 6].map((seq) => elapsed(ring, seq))).toEqual([4, null, 4, null]);
  });
  it("names the calls that a question held up", () => {
    const detail = { question_seq: 3, call_ids: ["c1", "c2"] };
    const ring = ringOf([anEvent({ seq: 4, kind: "RequestPaused", detail })]);
    expect(ring.links.pausedCallIds(3)).toEqual(["c1", "c2"]);
    expect(ring.links.pausedCallIds(null)).toEqual([]);
  });
});

describe("an HTTP exchange", () => {
  const ring = ringOf([
    sent({ seq: 1, exchange_id: 1, call_id: "c1", purpose: "call" }),
    sent({ seq: 2, exchange_id: 2, call_id: "c2", purpose: "heartbeat" }),
    http(3, 2),
    http(4, 1),
    http(5, 1, "HttpBytesReceived"),
    // The answer to one POST carries a notification of another request.
    came({ seq: 6, status: "notification", exchange_id: 1, request_seq: 2, call_id: "c2" }),
    http(7, 1, "HttpExchangeEnded"),
    // The stream is resumed on another exchange.
    http(8, 9),
    came({ seq: 9, exchange_id: 9, request_seq: 1, call_id: "c1" }),
    http(10, null),
  ]);
  const parts = (id: number) => ring.links.partsOf(id).map((part) => part.seq);
  it("has its parts in order, whatever came between them", () => {
    expect([1, 2, 9, 77].map(parts)).toEqual([[4, 5, 7], [3], [8], []]);
  });
  it("is that of the message, not that of its request", () => {
    expect(at(ring, 9).exchange_id).toBe(9);
    expect(requestOf(ring, 9)).toBe(1);
    expect(requestOf(ring, 6)).toBe(2);
  });
  it("belongs to the call and purpose of the message that it was made for", () => {
    const of = (seq: number) => [
      ring.links.callIdOf(at(ring, seq)),
      ring.links.purposeOf(at(ring, seq)),
    ];
    expect(of(3)).toEqual(["c2", "heartbeat"]);
    expect(of(5)).toEqual(["c1", "call"]);
    expect(of(6)).toEqual(["c2", "heartbeat"]);
    expect(of(8)).toEqual([null, null]);
    expect(of(10)).toEqual([null, null]);
  });
});

describe("a link in the address", () => {
  const ring = ringOf([
    sent({ seq: 1, exchange_id: 4, call_id: "c1", request_id: 7 }),
    http(2, 4),
    sent({ seq: 3, kind: "FrameReceived", caused_by_seq: 1, call_id: "c1" }),
    anEvent({ seq: 4, status: "result", request_seq: 3, call_id: "c1" }),
    anEvent({ seq: 5, kind: "LogReceived", request_seq: 1, is_inferred: true, call_id: "c1" }),
    anEvent({ seq: 6, kind: "StderrLine", request_seq: 1, is_inferred: true }),
    sent({ seq: 7, caused_by_seq: 1, call_id: "c1", request_id: 9 }),
    sent({ seq: 8, call_id: "c2" }),
    came({ seq: 9, request_seq: 99, call_id: "c1" }),
  ]);
  const found = (name: LinkFilter["name"], value: string) =>
    ring.items.filter(linkMatcher(ring, { name, value })).map((event) => event.seq);
  it("finds a request with what belongs to it and what it caused", () => {
    expect(found("request", "1")).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(found("request", "3")).toEqual([3, 4]);
    // The request itself is not recorded; what belongs to it is.
    expect(found("request", "99")).toEqual([9]);
  });
  it("finds a call, and an exchange", () => {
    expect(found("call", "c1")).toEqual([1, 2, 3, 4, 5, 6, 7, 9]);
    expect(found("exchange", "4")).toEqual([1, 2]);
    expect(found("exchange", "null")).toEqual([]);
  });
  it("is read, replaced, removed and put in words", () => {
    const query = new URLSearchParams("run=r&call=c1");
    expect(linkFilterOf(query)).toEqual({ name: "call", value: "c1" });
    expect(String(withLink(query, { name: "exchange", value: "4" }))).toBe("run=r&exchange=4");
    expect(linkFilterOf(withLink(query, null))).toBeNull();
    const words = (name: LinkFilter["name"], value: string) => linkWords(ring, { name, value });
    expect(words("request", "1")).toBe("tools/call with id 7");
    expect(words("request", "99")).toBe("the request of event 99");
    expect(words("call", "c1")).toBe("tools/call with ids 7 to 9");
    expect(words("call", "c99")).toBe("call c99");
    expect(words("exchange", "4")).toBe("HTTP exchange 4");
  });
});
