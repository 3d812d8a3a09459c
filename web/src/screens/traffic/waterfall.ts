// Waterfall bars of the visible requests on a common axis. Idle times are shortened: users think
// longer than servers work.
import { useCallback, useRef } from "react";
import type { EventView } from "../../api/types";
import type { EventRing } from "../../state/events";
import type { TrafficTree } from "./trafficTree";

interface Span {
  start: number;
  end: number;
}

/** Maps a time to a position from 0 to 1. */
type Axis = (mono: number) => number;

// Maximum of an idle time as a share of the busy time.
const IDLE_SHARE = 0.06;

/** Start and end of an event; null if it has no duration. */
export function spanOf(event: EventView, ring: EventRing, below?: EventView[]): Span | null {
  if (event.status !== "request" && event.kind !== "QuestionOpened") return null;
  // A stream that stays open would make all other bars tiny.
  if (event.purpose === "listening") return null;
  const { links, items } = ring;
  const now = items.at(-1)?.mono ?? event.mono;
  const endOf = (one: EventView): number => {
    if (links.isPending(one)) return now;
    const lasts = one.status === "request" || one.kind === "QuestionOpened";
    return one.mono + ((lasts && links.elapsedOf(one)) || 0);
  };
  const start = event.mono;
  return { start, end: Math.max(start, endOf(event), ...(below ?? []).map(endOf)) };
}

export function makeAxis(spans: Span[]): Axis {
  const busy = merged(spans);
  const work = busy.reduce((sum, { start, end }) => sum + end - start, 0);
  const most = work * IDLE_SHARE;
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

interface Drawn {
  visible: EventView[];
  spans: Map<number, Span>;
  axis: Axis;
}

export function useWaterfall(
  ring: EventRing,
  tree: TrafficTree | null,
): (event: EventView, visible: EventView[]) => WaterfallBar | null {
  const last = useRef<Drawn | null>(null);
  return useCallback(
    (event, visible) => {
      if (last.current?.visible !== visible) {
        const spans = new Map<number, Span>();
        for (const row of visible) {
          const span = spanOf(row, ring, tree?.children.get(row.seq));
          if (span) spans.set(row.seq, span);
        }
        last.current = { visible, spans, axis: makeAxis([...spans.values()]) };
      }
      const { spans, axis } = last.current;
      const span = spans.get(event.seq);
      if (!span) return null;
      const left = axis(span.start);
      return { left, width: axis(span.end) - left, duration_s: span.end - span.start };
    },
    [ring, tree],
  );
}
