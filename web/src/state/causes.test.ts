import { describe, expect, it } from "vitest";
import type { EventView } from "../api/types";
import { TrafficTree } from "../screens/traffic/trafficTree";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";
import { FilteredEvents } from "./filteredEvents";

const now = (run: () => void): void => run();
const sent = { kind: "FrameSent", status: "request", method: "tools/call" };
const got = { kind: "FrameReceived", status: "result", method: "tools/call" };
const asks = { kind: "FrameReceived", status: "request", method: "elicitation/create" };
const answers = { kind: "FrameSent", status: "result", method: "elicitation/create" };

function ringOf(events: EventView[]): EventRing {
  const ring = new EventRing(1000, now);
  ring.append(events);
  return ring;
}

function drawn(ring: EventRing, rows = ring.items, closed = new Set<number>()): string[] {
  const frames = rows.filter(({ kind, request_id }) =>
    kind.startsWith("Frame") ? true : kind === "QuestionOpened" && request_id === null,
  );
  const tree = new TrafficTree(ring.parentOf, closed).refresh(frames);
  return tree.rows.map((row) => `${"  ".repeat(tree.levelOf(row))}${row.seq}`);
}

describe("the request tree", () => {
  const handshake = [
    anEvent({ seq: 1, ...sent, request_id: 6 }),
    anEvent({ seq: 2, kind: "FrameReceived", status: "notification", method: "other" }),
    anEvent({ seq: 3, ...asks, request_id: 1 }),
    anEvent({
      seq: 4,
      kind: "ServerRequestReceived",
      request_id: 1,
      detail: { caused_by: 6 },
    }),
    anEvent({ seq: 5, ...answers, request_id: 1 }),
    anEvent({ seq: 6, kind: "FrameReceived", method: "notifications/progress" }),
    anEvent({ seq: 7, kind: "ProgressReceived", request_id: 6 }),
    anEvent({ seq: 8, ...got, request_id: 6 }),
  ];

  it("nests a question, its answer, progress and the result beneath the call", () => {
    expect(drawn(ringOf(handshake))).toEqual(["1", "  3", "    5", "  6", "  8", "2"]);
  });

  it("takes the one call that a question stops for its cause, if none is named", () => {
    const events = handshake.map((event) =>
      event.seq === 4
        ? anEvent({ seq: 4, kind: "RequestPaused", detail: { request_ids: [6], question_id: 1 } })
        : event,
    );
    expect(drawn(ringOf(events))).toEqual(["1", "  3", "    5", "  6", "  8", "2"]);
  });

  it("leaves a question at the top when several calls may have caused it", () => {
    const events = handshake.map((event) =>
      event.seq === 4
        ? anEvent({
            seq: 4,
            kind: "RequestPaused",
            detail: { request_ids: [6, 7], question_id: 1 },
          })
        : event,
    );
    expect(drawn(ringOf(events))).toContain("3");
  });

  it("nests the rounds of a call beneath its first, another call in between not", () => {
    const ring = ringOf([
      anEvent({ seq: 1, ...sent, request_id: 2 }),
      anEvent({ seq: 2, ...got, request_id: 2 }),
      anEvent({ seq: 3, kind: "InputRoundStarted", method: "tools/call", request_id: 2 }),
      anEvent({
        seq: 4,
        kind: "QuestionOpened",
        detail: { question_id: "q1", caused_by: 2 },
      }),
      anEvent({ seq: 5, ...sent, request_id: 3 }),
      anEvent({ seq: 6, ...got, request_id: 3 }),
      anEvent({ seq: 7, kind: "QuestionClosed", detail: { question_id: "q1" } }),
      anEvent({ seq: 8, ...sent, request_id: 4 }),
      anEvent({ seq: 9, ...got, request_id: 4 }),
      anEvent({ seq: 10, kind: "InputRoundStarted", method: "tools/call", request_id: 4 }),
      anEvent({ seq: 11, ...sent, request_id: 5 }),
    ]);
    expect(drawn(ring)).toEqual(["1", "  2", "  4", "  8", "    9", "  11", "5", "  6"]);
    const opened = ring.find(4);
    expect(opened && ring.joined(opened).elapsed_s).toBe(3);
  });

  it("hides what is beneath a closed row, and shows what was found in its place", () => {
    const ring = ringOf(handshake);
    expect(drawn(ring, ring.items, new Set([3]))).toEqual(["1", "  3", "  6", "  8", "2"]);
    expect(drawn(ring, ring.items, new Set([1]))).toEqual(["1", "2"]);
    const found = ring.items.filter((event) => event.seq === 5 || event.seq === 2);
    expect(drawn(ring, found)).toEqual(["1", "  3", "    5", "2"]);
  });

  it("grows row by row to the same as at once, whatever is told late or not wanted", () => {
    for (const wanted of [() => true, (event: EventView) => event.seq % 2 === 0]) {
      const ring = new EventRing(1000, now);
      const filtered = new FilteredEvents(ring, wanted);
      const grown = new TrafficTree(ring.parentOf, new Set());
      for (const event of handshake) {
        ring.append([event]);
        grown.refresh(filtered.refresh());
      }
      const rows = ring.items.filter(wanted);
      const whole = new TrafficTree(ring.parentOf, new Set()).refresh(rows);
      const drawnRows = (tree: TrafficTree) => tree.rows.map((row) => [row.seq, tree.levelOf(row)]);
      expect(drawnRows(grown)).toEqual(drawnRows(whole));
    }
  });

  it("is made of 100,000 rows at once, and takes in new ones in no time", () => {
    const ring = new EventRing(200_000, now);
    const events: EventView[] = [];
    for (let seq = 1; seq <= 100_000; seq += 2)
      events.push(
        anEvent({ seq, ...sent, request_id: seq }),
        anEvent({ seq: seq + 1, ...got, request_id: seq }),
      );
    ring.append(events);
    const tree = new TrafficTree(ring.parentOf, new Set()).refresh(ring.items);
    expect(tree.rows).toHaveLength(100_000);
    const started = performance.now();
    for (let seq = 100_001; seq <= 100_400; seq += 2) {
      ring.append([
        anEvent({ seq, ...sent, request_id: seq }),
        anEvent({ seq: seq + 1, ...got, request_id: seq }),
      ]);
      tree.refresh(ring.items);
    }
    expect(tree.rows).toHaveLength(100_400);
    // 200 updates; a busy machine is given many times what they take.
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
