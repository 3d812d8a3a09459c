// The bars of the rows that are drawn together, on one axis.
import { useCallback, useRef } from "react";
import type { EventView } from "../../api/types";
import type { EventRing } from "../../state/events";
import type { Tree } from "./tree";
import { type Axis, axisOf, type Span, spanOf } from "./waterfall";

/** Where a bar begins and how long it is, as shares of the column; how long it stands for. */
export interface Bar {
  left: number;
  width: number;
  duration_s: number;
}

interface Drawn {
  visible: EventView[];
  spans: Map<number, Span>;
  axis: Axis;
}

export function useAxis(
  ring: EventRing,
  tree: Tree | null,
): (event: EventView, visible: EventView[]) => Bar | null {
  const last = useRef<Drawn | null>(null);
  return useCallback(
    (event, visible) => {
      if (last.current?.visible !== visible) {
        const spans = new Map<number, Span>();
        for (const row of visible) {
          const span = spanOf(row, ring, tree?.children.get(row.seq));
          if (span) spans.set(row.seq, span);
        }
        last.current = { visible, spans, axis: axisOf([...spans.values()]) };
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
