// Keeps the rows that are being read in place when others are added or removed above them.
import { useLayoutEffect, useRef } from "react";
import type { EventView } from "../api/types";
import { indexOfRow } from "../values/seqIndex";
import type { RowWindow } from "./useRowWindow";

export function useStablePosition(rows: EventView[], window: RowWindow, isOrdered: boolean): void {
  const read = useRef<{ seq: number; at: number } | null>(null);
  useLayoutEffect(() => {
    const before = read.current;
    if (before && !window.isFollowing && rows[before.at]?.seq !== before.seq) {
      const at = indexOfRow(rows, before.seq, isOrdered);
      if (at >= 0) {
        read.current = { ...before, at };
        return window.shift(at - before.at);
      }
    }
    const row = rows[window.top];
    read.current = row ? { seq: row.seq, at: window.top } : null;
  });
}
