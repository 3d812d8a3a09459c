// Waterfall bars of the visible requests on a common axis. Idle times are shortened: users think
// longer than servers work.
import type { EventView } from "../../api/types";
import { isHttp } from "../../state/eventLinks";
import type { EventRing } from "../../state/events";
import { elapsedOf, isPendingRow, type RowContext } from "./rowFacts";

export interface Span {
  start: number;
  end: number;
}

/** Maps a time to a position from 0 to 1. */
type Axis = (mono: number) => number;

// Maximum of an idle time as a share of the busy time.
const IDLE_SHARE = 0.06;

/** A time of day on the clock of the events; never before the newest of them. */
export function monoAt({ items }: EventRing, wall: number): number {
  const newest = items.at(-1);
  return newest ? newest.mono + Math.max(0, wall - newest.wall) : 0;
}

/** Start and end of what a row shows, which ends `now` if it waits; null if it has no duration. */
export function spanOf(event: EventView, context: RowContext, now: number): Span | null {
  const { ring } = context;
  const lasts =
    event.status === "request" ||
    event.kind === "QuestionOpened" ||
    (context.arrangement === "http" && event.kind === "HttpRequestSent");
  if (!lasts) return null;
  // A stream that stays open would make all other bars tiny.
  if (ring.links.purposeOf(event) === "listening") return null;
  const start = event.mono;
  if (isPendingRow(event, context)) return { start, end: Math.max(start, now) };
  const elapsed_s = elapsedOf(event, { ...context, arrangement: pairedAs(context) });
  // The stream of an exchange that is still open.
  return elapsed_s === null && isHttp(event) ? null : { start, end: start + (elapsed_s ?? 0) };
}

const pairedAs = ({ arrangement }: RowContext) => (arrangement === "wire" ? "paired" : arrangement);

const workOf = (busy: Span[]): number => busy.reduce((sum, { start, end }) => sum + end - start, 0);

/** A longer idle time is shortened to this. */
const mostIdle = (busy: Span[]): number => workOf(busy) * IDLE_SHARE;

export function makeAxis(spans: Span[]): Axis {
  const busy = merged(spans);
  const most = mostIdle(busy);
  const marks: { mono: number; at: number }[] = [];
  let at = 0;
  busy.forEach(({ start, end }, index) => {
    const before = busy[index - 1];
    if (before) at += Math.min(start - before.end, most);
    marks.push({ mono: start, at });
    at += end - start;
    marks.push({ mono: end, at });
  });
  const whole = at || 1;
  return (mono) => {
    const next = marks.findIndex((mark) => mark.mono >= mono);
    const to = marks[next];
    if (!to) return marks.length ? at / whole : 0;
    const from = marks[next - 1];
    if (!from || to.mono === from.mono) return to.at / whole;
    const share = (mono - from.mono) / (to.mono - from.mono);
    return (from.at + share * (to.at - from.at)) / whole;
  };
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}

/** Position and width of a bar as shares of the column, and its duration. */
export interface WaterfallBar {
  left: number;
  width: number;
  duration_s: number;
}

/** Where idle time is shortened, as shares of the column. */
export interface AxisBreak {
  at: number;
  width: number;
  idle_s: number;
}

/** A mark of the axis: where it stands, and the time since the first row in view. */
export interface AxisTick {
  at: number;
  label: string;
}

export interface Waterfall {
  bars: Map<number, WaterfallBar>;
  ticks: AxisTick[];
  breaks: AxisBreak[];
}

// Marks closer than this share of the column would run into each other.
const TICK_SHARE = 0.24;
const STEPS = [1, 2, 5];

/** The largest step of 1, 2 or 5 times a power of ten of which the length has about three. */
function stepFor(length: number): number {
  const rough = length / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.findLast((step) => step * power <= rough) ?? 1) * power;
}

/** A time with as many digits as tell it from the marks beside it. */
function tickLabel(seconds: number, step: number): string {
  if (seconds === 0) return "0";
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  const digits = Math.min(3, Math.max(0, -Math.floor(Math.log10(step))));
  if (seconds < 60) return `${Number(seconds.toFixed(digits))} s`;
  const [whole = "", part] = seconds.toFixed(digits).split(".");
  const second = String(Number(whole) % 60).padStart(2, "0");
  return `${Math.floor(Number(whole) / 60)}:${second}${part ? `.${part}` : ""} min`;
}

/** Marks at round times; where idle time is shortened there are none. */
export function ticksOf(spans: Span[]): AxisTick[] {
  const busy = merged(spans);
  const work = workOf(busy);
  const first = busy[0];
  if (!first || work <= 0) return [];
  const axis = makeAxis(spans);
  const step = stepFor(work);
  const ticks: AxisTick[] = [];
  for (const { start, end } of busy) {
    const from = Math.ceil((start - first.start) / step) * step;
    for (let since = from; since <= end - first.start; since += step) {
      const at = axis(first.start + since);
      const isClear = at - (ticks.at(-1)?.at ?? -1) >= TICK_SHARE;
      // The label of the last mark must fit before the edge.
      if (isClear && at <= 1 - TICK_SHARE / 2) ticks.push({ at, label: tickLabel(since, step) });
    }
  }
  return ticks;
}

/** The idle times that the axis shortens. */
export function breaksOf(spans: Span[]): AxisBreak[] {
  const busy = merged(spans);
  const axis = makeAxis(spans);
  const most = mostIdle(busy);
  return busy.flatMap(({ end }, index) => {
    const next = busy[index + 1];
    if (!next || next.start - end <= most) return [];
    const at = axis(end);
    return [{ at, width: axis(next.start) - at, idle_s: next.start - end }];
  });
}

// More than the widest digit, and the space around a label.
const DIGIT_PX = 7;
const AROUND_PX = 10;

/** Those marks whose labels have room in a column of this width. */
export function fittingTicks(ticks: AxisTick[], width: number): AxisTick[] {
  let end = 0;
  return ticks.filter(({ at, label }) => {
    const start = at * width;
    const after = start + label.length * DIGIT_PX + AROUND_PX;
    if (start < end || after > width) return false;
    end = after;
    return true;
  });
}

/** Bars of the rows in view, on one axis. */
export function waterfallOf(
  visible: EventView[],
  spanOf: (event: EventView) => Span | null,
): Waterfall {
  const spans = new Map<number, Span>();
  for (const row of visible) {
    const span = spanOf(row);
    if (span) spans.set(row.seq, span);
  }
  const all = [...spans.values()];
  const axis = makeAxis(all);
  const bars = new Map<number, WaterfallBar>();
  for (const [seq, { start, end }] of spans) {
    const left = axis(start);
    bars.set(seq, { left, width: axis(end) - left, duration_s: end - start });
  }
  return { bars, ticks: ticksOf(all), breaks: breaksOf(all) };
}
