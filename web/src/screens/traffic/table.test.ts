import { describe, expect, it } from "vitest";
import { EventRing } from "../../state/events";
import { anEvent } from "../../testing/views";
import {
  type ColumnShape,
  fittingColumns,
  gridTracks,
  moved,
  orderedColumns,
  placed,
  visibleColumns,
  widthOf,
} from "./columnLayout";
import type { RowContext } from "./rowFacts";
import { nextSort, sortedRows } from "./sortedRows";
import { quantile, summaryOf } from "./trafficSummary";
import { breaksOf, fittingTicks, ticksOf, waterfallOf } from "./waterfall";

const column = (id: string, part: Partial<ColumnShape> = {}): ColumnShape => ({
  id,
  width: 100,
  min: 40,
  weight: 1,
  isDefault: true,
  ...part,
});
const ids = (columns: ColumnShape[]): string => columns.map(({ id }) => id).join("");

describe("the columns", () => {
  const all = [
    column("a"),
    column("b", { grows: 1, weight: 9 }),
    column("c", { isDefault: false }),
    column("d", { weight: 5 }),
  ];
  it("are shown as they come, or as they were chosen", () => {
    expect(ids(visibleColumns(all, {}))).toBe("abd");
    expect(ids(visibleColumns(all, { visible: { a: false, c: true } }))).toBe("bcd");
  });
  it("keep a chosen order; new ones stand beside their neighbour, unknown ones are forgotten", () => {
    expect(ids(orderedColumns(all, { order: ["d", "x", "a"] }))).toBe("dabc");
    expect(ids(orderedColumns(all, moved(all, {}, "d", -1)))).toBe("adbc");
    expect(moved(all, {}, "a", -1)).toEqual({});
    expect(ids(orderedColumns(all, placed(all, {}, "a", "d", true)))).toBe("bcda");
    expect(ids(orderedColumns(all, placed(all, {}, "d", "a", false)))).toBe("dabc");
  });
  it("have the chosen width, within bounds", () => {
    expect(widthOf(column("a"), { widths: { a: 10 } })).toBe(40);
    expect(widthOf(column("a"), { widths: { a: 9_999 } })).toBe(1_200);
    expect(gridTracks(visibleColumns(all, {}), { widths: { a: 70 } })).toBe(
      "70px minmax(40px, 1fr) 100px",
    );
    expect(gridTracks(visibleColumns(all, {}), { widths: { b: 70 } })).toBe(
      "100px 70px minmax(100px, 1fr)",
    );
  });
  it("go by their weight where there is no room for all of them", () => {
    const fit = (room: number) => ids(fittingColumns(visibleColumns(all, {}), {}, room));
    expect([300, 200, 100, 10].map(fit)).toEqual(["abd", "bd", "b", "b"]);
  });
});

describe("sorting", () => {
  const rows = [1, 2, 3, 4, 5].map((seq) => anEvent({ seq }));
  const keys = new Map<number, number | null>([
    [1, 30],
    [3, null],
    [4, 10],
  ]);
  const levels = new Map([
    [2, 1],
    [5, 1],
  ]);
  const sorted = (isDown: boolean) =>
    sortedRows(
      rows,
      ({ seq }) => levels.get(seq) ?? 0,
      ({ seq }) => keys.get(seq) ?? null,
      isDown,
    ).map(({ seq }) => seq);
  it("moves roots with what is beneath them, and puts what has no value last", () => {
    expect(sorted(false)).toEqual([4, 5, 1, 2, 3]);
    expect(sorted(true)).toEqual([1, 2, 4, 5, 3]);
  });
  it("goes up, down, and back", () => {
    const up = nextSort(null, "size");
    expect(up).toEqual({ column: "size", isDown: false });
    const down = nextSort(up, "size");
    expect(down).toEqual({ column: "size", isDown: true });
    expect(nextSort(down, "size")).toBeNull();
    expect(nextSort(down, "name")).toEqual({ column: "name", isDown: false });
  });
});

describe("the summary", () => {
  it("counts requests, errors, bytes and durations, however they are arranged", () => {
    const ring = new EventRing(1000, (run) => run());
    const sent = { kind: "FrameSent", status: "request", method: "x" };
    const got = { kind: "FrameReceived", status: "result", method: "x" };
    ring.append([
      anEvent({ seq: 1, ...sent }),
      anEvent({ seq: 3, ...got, request_seq: 1 }),
      anEvent({ seq: 4, ...sent }),
      anEvent({ seq: 8, ...got, request_seq: 4, is_error: true }),
      anEvent({ seq: 9, ...sent, purpose: "call" }),
      anEvent({ seq: 10, ...sent }),
      anEvent({ seq: 30, ...got, request_seq: 10 }),
    ]);
    const paired: RowContext = { ring, arrangement: "paired" };
    const rows = ring.items.filter(({ status }) => status === "request");
    const sums = { requests: 4, errors: 1, waiting: 1, size_bytes: 70, median_s: 4, p95_s: 20 };
    expect(summaryOf(rows, paired)).toEqual(sums);
    const wire: RowContext = { ring, arrangement: "wire" };
    expect(summaryOf(ring.items, wire)).toEqual(sums);
  });
  it("has no durations where there are none", () => {
    expect(quantile(new Float64Array(), 0.5)).toBeNull();
    expect(quantile(Float64Array.of(1, 2, 3, 4), 0.5)).toBe(2);
    expect(quantile(Float64Array.of(1, 2, 3, 4), 0.95)).toBe(4);
  });
});

describe("the axis", () => {
  it("has marks at round times that do not run into each other", () => {
    expect(ticksOf([{ start: 100, end: 101 }]).map(({ label }) => label)).toEqual([
      "0",
      "400 ms",
      "800 ms",
    ]);
    expect(ticksOf([])).toEqual([]);
    expect(ticksOf([{ start: 3, end: 3 }])).toEqual([]);
    const far = ticksOf([
      { start: 0, end: 30 },
      { start: 3_600, end: 3_630 },
    ]);
    expect(far.map(({ label }) => label)).toEqual(["0", "20 s", "60:20 min"]);
    const late = ticksOf([
      { start: 0, end: 0.01 },
      { start: 104, end: 104.25 },
    ]);
    expect(late.map(({ label }) => label)).toEqual(["0", "1:44.05 min", "1:44.15 min"]);
    for (const [at, tick] of far.slice(1).entries())
      expect(tick.at - (far[at]?.at ?? 0)).toBeGreaterThanOrEqual(0.24);
  });
  it("marks where idle time is shortened, and only there", () => {
    const spans = [
      { start: 0, end: 30 },
      { start: 31, end: 50 },
      { start: 3_600, end: 3_651 },
    ];
    const [only, ...others] = breaksOf(spans);
    expect(others).toEqual([]);
    expect(only?.idle_s).toBe(3_550);
    // Of 100 s of work and 1 s between two requests, an hour takes 6 s.
    expect(only?.at).toBeCloseTo(50 / 107);
    expect(only?.width).toBeCloseTo(6 / 107);
    expect(breaksOf([])).toEqual([]);
  });
  it("has fewer marks where its labels have no room", () => {
    const ticks = [
      { at: 0, label: "1:25 min" },
      { at: 0.3, label: "1:35 min" },
      { at: 0.6, label: "1:45 min" },
    ];
    const at = (width: number) => fittingTicks(ticks, width).map((tick) => tick.at);
    expect(at(Number.POSITIVE_INFINITY)).toEqual([0, 0.3, 0.6]);
    expect(at(240)).toEqual([0, 0.3, 0.6]);
    expect(at(180)).toEqual([0, 0.6]);
    expect(at(90)).toEqual([0]);
    expect(at(40)).toEqual([]);
  });
  it("places the bars of the rows in view", () => {
    const rows = [anEvent({ seq: 1 }), anEvent({ seq: 2 })];
    const { bars } = waterfallOf(rows, ({ seq }) => (seq === 1 ? { start: 0, end: 2 } : null));
    expect(bars.get(1)).toEqual({ left: 0, width: 1, duration_s: 2 });
    expect(bars.has(2)).toBe(false);
  });
});
