import { describe, expect, it } from "vitest";
import type { EventView } from "../../api/types";
import { EventRing } from "../../state/events";
import { FilteredEvents } from "../../state/filteredEvents";
import { anEvent } from "../../testing/views";
import { TrafficTree } from "./trafficTree";

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
  const tree = new TrafficTree(ring.links.parentOf, ({ seq }) => closed.has(seq)).refresh(frames);
  return tree.rows.map((row) => `${"  ".repeat(tree.levelOf(row))}${row.seq}`);
}

describe("the request tree", () => {
  const call = [
    anEvent({ seq: 1, ...sent }),
    anEvent({ seq: 2, kind: "FrameReceived", status: "notification", method: "other" }),
    anEvent({ seq: 3, ...asks, caused_by_seq: 1 }),
    anEvent({ seq: 4, kind: "ServerRequestReceived", request_seq: 3, caused_by_seq: 1 }),
    anEvent({ seq: 5, ...answers, request_seq: 3 }),
    anEvent({ seq: 6, kind: "FrameReceived", status: "notification", request_seq: 1 }),
    anEvent({ seq: 7, kind: "ProgressReceived", request_seq: 1, detail: { frame_seq: 6 } }),
    anEvent({ seq: 8, ...got, request_seq: 1 }),
  ];

  it("nests a question, its answer, progress and the result beneath the call", () => {
    expect(drawn(ringOf(call))).toEqual(["1", "  3", "    5", "  6", "  8", "2"]);
  });

  it("leaves a question at the top whose cause is not known, or not recorded", () => {
    for (const caused_by_seq of [null, 1]) {
      const events = call
        .slice(1)
        .map((event) => (event.seq === 3 ? { ...event, caused_by_seq } : event));
      expect(drawn(ringOf(events)).slice(0, 3)).toEqual(["2", "3", "  5"]);
    }
  });

  it("nests the rounds of a call beneath its first, another call in between not", () => {
    const ring = ringOf([
      anEvent({ seq: 1, ...sent }),
      anEvent({ seq: 2, ...got, request_seq: 1 }),
      anEvent({ seq: 3, kind: "InputRoundStarted", request_seq: 1 }),
      anEvent({ seq: 4, kind: "QuestionOpened", caused_by_seq: 1 }),
      anEvent({ seq: 5, ...sent }),
      anEvent({ seq: 6, ...got, request_seq: 5 }),
      anEvent({ seq: 7, kind: "QuestionClosed", detail: { opened_seq: 4 } }),
      anEvent({ seq: 8, ...sent, caused_by_seq: 1 }),
      anEvent({ seq: 9, ...got, request_seq: 8 }),
    ]);
    expect(drawn(ring)).toEqual(["1", "  2", "  4", "  8", "    9", "5", "  6"]);
  });

  it("is drawn however deep a trace nests, and whatever it links to", () => {
    const deep = Array.from({ length: 50_000 }, (_, at) =>
      anEvent({ seq: at + 1, ...sent, caused_by_seq: at || null }),
    );
    const ring = new EventRing(100_000, now);
    ring.append([...deep, anEvent({ seq: 60_000, ...got, request_seq: 60_000 })]);
    const tree = new TrafficTree(ring.links.parentOf).refresh(ring.items);
    expect(tree.rows).toHaveLength(50_001);
    expect(tree.levelOf(deep.at(-1) as EventView)).toBe(49_999);
  });

  it("hides what is beneath a closed row, and shows what was found in its place", () => {
    const ring = ringOf(call);
    expect(drawn(ring, ring.items, new Set([3]))).toEqual(["1", "  3", "  6", "  8", "2"]);
    expect(drawn(ring, ring.items, new Set([1]))).toEqual(["1", "2"]);
    const found = ring.items.filter((event) => event.seq === 5 || event.seq === 2);
    expect(drawn(ring, found)).toEqual(["1", "  3", "    5", "2"]);
  });

  it("grows row by row to the same as at once, whatever is not wanted", () => {
    for (const wanted of [() => true, (event: EventView) => event.seq % 2 === 0]) {
      const ring = new EventRing(1000, now);
      const filtered = new FilteredEvents(ring, wanted);
      const grown = new TrafficTree(ring.links.parentOf);
      for (const event of call) {
        ring.append([event]);
        grown.refresh(filtered.refresh());
      }
      const rows = ring.items.filter(wanted);
      const whole = new TrafficTree(ring.links.parentOf).refresh(rows);
      const drawnRows = (tree: TrafficTree) => tree.rows.map((row) => [row.seq, tree.levelOf(row)]);
      expect(drawnRows(grown)).toEqual(drawnRows(whole));
    }
  });

  it("is made of 100,000 rows at once, and takes in new ones in no time", () => {
    const ring = new EventRing(200_000, now);
    const events: EventView[] = [];
    for (let seq = 1; seq <= 100_000; seq += 2)
      events.push(anEvent({ seq, ...sent }), anEvent({ seq: seq + 1, ...got, request_seq: seq }));
    ring.append(events);
    const tree = new TrafficTree(ring.links.parentOf).refresh(ring.items);
    expect(tree.rows).toHaveLength(100_000);
    const started = performance.now();
    for (let seq = 100_001; seq <= 100_400; seq += 2) {
      ring.append([anEvent({ seq, ...sent }), anEvent({ seq: seq + 1, ...got, request_seq: seq })]);
      tree.refresh(ring.items);
    }
    expect(tree.rows).toHaveLength(100_400);
    // 200 updates; a busy machine is given many times what they take.
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it("takes in a flood beneath one call, and another call amid it, in no time", () => {
    const ring = new EventRing(200_000, now);
    const note = { kind: "FrameReceived", status: "notification", method: "notifications/message" };
    const told = (seq: number) => anEvent({ seq, ...note, request_seq: seq % 2 ? 1 : 2 });
    ring.append([anEvent({ seq: 1, ...sent }), anEvent({ seq: 2, ...sent })]);
    ring.append(Array.from({ length: 100_000 }, (_, at) => told(at + 3)));
    const tree = new TrafficTree(ring.links.parentOf).refresh(ring.items);
    const before = process.cpuUsage();
    for (let seq = 100_003; seq < 100_503; seq += 1) {
      ring.append([told(seq)]);
      tree.refresh(ring.items);
    }
    const { user } = process.cpuUsage(before);
    expect(tree.rows).toHaveLength(100_502);
    expect(tree.rows.indexOf(ring.items[1] as EventView)).toBe(50_251);
    expect(tree.rows.at(-1)?.seq).toBe(100_502);
    // 0.1 ms each; scanning the rows would take 50 times as long.
    expect(user / 1000).toBeLessThan(1_000);
  });
});
