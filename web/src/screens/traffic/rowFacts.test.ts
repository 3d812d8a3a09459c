import { describe, expect, it } from "vitest";
import type { EventView } from "../../api/types";
import { EventRing } from "../../state/events";
import { anEvent } from "../../testing/views";
import { treeRules } from "./arrangement";
import { toneOf } from "./MonitorRow";
import {
  type Arrangement,
  elapsedOf,
  eventsOf,
  isPendingRow,
  previewOfRow,
  type RowContext,
  sizeOf,
  statusOf,
  toneOfRow,
} from "./rowFacts";
import { NO_FILTER, trafficMatcher } from "./trafficFilter";
import { summaryOf } from "./trafficSummary";
import { TrafficTree } from "./trafficTree";

const sent = { kind: "FrameSent", status: "request", method: "tools/call" };
const got = { kind: "FrameReceived", status: "result", method: "tools/call" };

function shown(events: EventView[], arrangement: Arrangement = "paired") {
  const ring = new EventRing(1000, (run) => run());
  ring.append(events);
  const context: RowContext = { ring, arrangement };
  const rules = treeRules(ring, arrangement);
  const tree = new TrafficTree(rules.parentOf, rules.startsClosed, rules.isMerged);
  const status = (seq: number) => statusOf(ring.find(seq) as EventView, context).text;
  const row = (seq: number) => ring.find(seq) as EventView;
  const drawn = (rows = ring.items) => tree.refresh(rows).rows.map(({ seq }) => seq);
  return { ring, context, tree, status, row, drawn };
}

describe("identical notifications", () => {
  const changed = {
    kind: "FrameReceived",
    status: "notification",
    method: "notifications/tools/list_changed",
  };
  const listed = { purpose: "catalog", method: "tools/list" };
  const events = [
    anEvent({ seq: 1, ...changed }),
    anEvent({ seq: 2, kind: "FrameSent", status: "request", ...listed }),
    anEvent({ seq: 3, ...changed }),
    anEvent({ seq: 4, ...changed, server_id: "other" }),
    anEvent({ seq: 5, kind: "FrameReceived", status: "result", request_seq: 2, ...listed }),
    anEvent({ seq: 6, ...changed }),
    anEvent({ seq: 7, ...changed, head: '{"params":{}}' }),
    anEvent({ seq: 8, ...changed, head: '{"params":{}}' }),
    anEvent({ seq: 9, ...sent }),
    anEvent({ seq: 10, ...changed, head: '{"params":{}}' }),
  ];
  const visible = events.filter(({ purpose }) => purpose !== "catalog");
  it("are one row while nothing else comes between them", () => {
    const { tree, drawn, row } = shown(events);
    expect(drawn(visible)).toEqual([1, 4, 7, 9, 10]);
    expect(tree.children.get(1)?.map(({ seq }) => seq)).toEqual([3, 6]);
    expect(tree.isOpen(row(1))).toBe(false);
    expect(tree.isOpen(row(10))).toBeUndefined();
  });
  it("come one by one, too", () => {
    const { ring, drawn } = shown(events.slice(0, 2));
    const rows = visible.slice(0, 1);
    expect(drawn(rows)).toEqual([1]);
    ring.append(events.slice(2));
    rows.push(...visible.slice(1));
    expect(drawn(rows)).toEqual([1, 4, 7, 9, 10]);
  });
  it("are apart where requests of mcplens's own are shown between them", () => {
    const ring = new EventRing(1000, (run) => run());
    ring.append(events);
    const { parentOf } = treeRules(ring, "paired", true);
    expect(parentOf(ring.find(3) as EventView)).toBeUndefined();
    expect(parentOf(ring.find(8) as EventView)?.seq).toBe(7);
  });
});

describe("a request and its answer", () => {
  const call = [
    anEvent({ seq: 1, ...sent, head: '{"params":{"name":"sum","arguments":{"a":2}}}' }),
    anEvent({ seq: 3, kind: "FrameReceived", status: "request", caused_by_seq: 1 }),
    anEvent({ seq: 5, kind: "FrameSent", status: "result", request_seq: 3 }),
    anEvent({
      seq: 8,
      ...got,
      request_seq: 1,
      size_bytes: 163,
      head: '{"result":{"content":[{"type":"text","text":"5"}]}}',
    }),
  ];
  it("are one row, with the question that it caused beneath", () => {
    const { drawn, tree, row, context } = shown(call);
    expect(drawn()).toEqual([1, 3]);
    expect(tree.levelOf(row(3))).toBe(1);
    expect(eventsOf(row(1), context).map(({ seq }) => seq)).toEqual([1, 8]);
  });
  it("have the status, size and duration of the answer, and both previews", () => {
    const { row, context, status } = shown(call);
    expect(status(1)).toBe("ok");
    expect(sizeOf(row(1), context)).toBe(163);
    expect(elapsedOf(row(1), context)).toBe(7);
    expect(previewOfRow(row(1), context)).toBe('a: 2 → "5"');
  });
  it("begin with why it failed, since the end may be cut", () => {
    const head = '{"error":{"code":-32000,"message":"it cannot be done"}}';
    const failed = anEvent({ seq: 8, ...got, status: "error", request_seq: 1, head });
    const { row, context } = shown([...call.filter(({ seq }) => seq !== 8), failed]);
    expect(previewOfRow(row(1), context)).toBe("it cannot be done (-32000) ← a: 2");
  });
  it("are shown if only the answer matches a filter", () => {
    const { drawn, ring } = shown(call);
    expect(drawn(ring.items.filter(({ seq }) => seq === 8))).toEqual([1]);
  });
  it("are two rows in the order of the wire", () => {
    const { row, context, status } = shown(call, "wire");
    expect([status(1), status(8)]).toEqual(["", "ok"]);
    expect(elapsedOf(row(1), context)).toBeNull();
    expect(elapsedOf(row(8), context)).toBe(7);
    expect(eventsOf(row(1), context)).toHaveLength(1);
  });
  it("grow row by row to the same as at once", () => {
    const { ring, drawn } = shown([]);
    for (const event of call) {
      ring.append([event]);
      drawn(ring.items);
    }
    expect(drawn()).toEqual([1, 3]);
  });
  it("leave a second answer and one without a request as rows of their own", () => {
    const { drawn } = shown([
      anEvent({ seq: 1, ...sent }),
      anEvent({ seq: 2, ...got, request_seq: 1 }),
      anEvent({ seq: 3, ...got, request_seq: 1 }),
      anEvent({ seq: 4, ...got, request_seq: null }),
    ]);
    expect(drawn()).toEqual([1, 3, 4]);
  });
});

describe("a status", () => {
  it("says what failed, what waits, and for whom", () => {
    const { status, row, context } = shown([
      anEvent({ seq: 1, ...sent, purpose: "call" }),
      anEvent({ seq: 2, ...sent }),
      anEvent({ seq: 3, ...got, request_seq: 2, is_error: true }),
      anEvent({ seq: 4, ...sent }),
      anEvent({ seq: 5, ...got, status: "error", request_seq: 4 }),
      anEvent({ seq: 6, kind: "FrameReceived", status: "request", caused_by_seq: 1 }),
      anEvent({ seq: 7, kind: "QuestionOpened", request_seq: 6, caused_by_seq: 1 }),
      anEvent({ seq: 8, kind: "FrameReceived", status: "malformed", malformed: "not JSON" }),
    ]);
    expect([1, 2, 4, 6, 8].map(status)).toEqual([
      "waits for you",
      "tool error",
      "error reply",
      "waits for you",
      "malformed",
    ]);
    expect(isPendingRow(row(1), context)).toBe(true);
    expect(toneOfRow(row(2), context)).toBe("bad");
    expect(toneOfRow(row(1), context)).toBeUndefined();
  });
  it("is quiet where an error is expected, which is not counted", () => {
    const asked = { ...sent, method: "server/discover", purpose: "handshake" };
    const refusal = { kind: "FrameReceived", status: "error", method: "server/discover" };
    const events = [
      anEvent({ seq: 1, ...asked }),
      anEvent({ seq: 2, ...refusal, request_seq: 1, is_expected: true }),
    ];
    for (const arrangement of ["paired", "wire"] as const) {
      const { context, row } = shown(events, arrangement);
      const told = statusOf(row(arrangement === "wire" ? 2 : 1), context);
      expect(told.text).toBe("not supported");
      expect(told.tone).toBeUndefined();
      expect(told.title).toContain("Nothing is wrong");
      expect(summaryOf(events, context).errors).toBe(0);
    }
    expect(toneOf(events[1] as EventView)).toBeUndefined();
    const isError = trafficMatcher({ ...NO_FILTER, status: "errors" }, null);
    expect(events.filter(isError)).toEqual([]);
  });
  it("is that of the last round of a call that asked, and waits until then", () => {
    const events = [
      anEvent({ seq: 1, ...sent }),
      anEvent({ seq: 2, ...got, request_seq: 1 }),
      anEvent({ seq: 4, kind: "QuestionOpened", caused_by_seq: 1, method: "elicitation/create" }),
    ];
    const { ring, status, row, context, drawn } = shown(events);
    expect(status(1)).toBe("waits for you");
    expect(elapsedOf(row(1), context)).toBeNull();
    ring.append([
      anEvent({ seq: 7, kind: "QuestionClosed", detail: { opened_seq: 4 } }),
      anEvent({ seq: 8, ...sent, caused_by_seq: 1 }),
      anEvent({ seq: 10, ...got, request_seq: 8, is_error: true, size_bytes: 77 }),
    ]);
    expect(status(1)).toBe("tool error");
    expect(elapsedOf(row(1), context)).toBe(9);
    // What came back in both rounds.
    expect(sizeOf(row(1), context)).toBe(87);
    const frames = ring.items.filter(({ kind }) => kind !== "QuestionClosed");
    expect(drawn(frames)).toEqual([1, 4, 8]);
    const rows = ring.items.filter((one) => one.status === "request");
    // Without the time in which the person thought.
    const sums = { requests: 2, errors: 1, median_s: 1, p95_s: 2 };
    expect(summaryOf(rows, context)).toMatchObject(sums);
  });
});

describe("stray output", () => {
  it("shows its text, and its reason once", () => {
    const { row, context, drawn } = shown([
      anEvent({
        seq: 1,
        kind: "FrameReceived",
        status: "malformed",
        malformed: "not a JSON object",
        head: "Loading…",
      }),
      anEvent({ seq: 2, kind: "ReplyUnmatched", detail: { frame_seq: 1 } }),
      anEvent({ seq: 3, kind: "ReplyUnmatched", detail: { frame_seq: 99 } }),
    ]);
    expect(previewOfRow(row(1), context)).toBe('"Loading…" — not a JSON object');
    expect(drawn()).toEqual([1, 3]);
  });
});

describe("an HTTP exchange", () => {
  const stream = { headers: [["Content-Type", "text/event-stream; charset=utf-8"]], reason: "OK" };
  const http = (seq: number, kind: string, part: Partial<EventView> = {}) =>
    anEvent({ seq, kind, exchange_id: 4, status: null, size_bytes: 0, ...part });
  const { drawn, tree, row, context, status, ring } = shown(
    [
      anEvent({ seq: 1, ...sent, exchange_id: 4 }),
      http(2, "HttpRequestSent", { method: "POST", size_bytes: 50, detail: { url: "http://x/m" } }),
      http(3, "HttpResponseReceived", { status: 200, detail: stream }),
      http(4, "HttpBytesReceived", { size_bytes: 30 }),
      anEvent({ seq: 5, ...got, request_seq: 1, exchange_id: 4 }),
      http(6, "HttpBytesReceived", { size_bytes: 7, head: ": keep-alive\n\n" }),
      http(7, "HttpExchangeEnded", { detail: { elapsed_s: 2.5 } }),
    ],
    "http",
  );
  const wanted = (event: EventView) =>
    event.kind.startsWith("Http") || ring.links.isStreamed(event);
  it("is one row that opens to the events of its stream, without keep-alives", () => {
    expect(drawn(ring.items.filter(wanted))).toEqual([2]);
    expect(tree.isOpen(row(2))).toBe(false);
    expect(tree.children.get(2)?.map(({ seq }) => seq)).toEqual([5]);
  });
  it("has the status of the response, the size of the body, and how long it took", () => {
    expect(status(2)).toBe("200 OK");
    expect(sizeOf(row(2), context)).toBe(37);
    expect(elapsedOf(row(2), context)).toBe(2.5);
    expect(eventsOf(row(2), context)).toHaveLength(5);
  });
});
