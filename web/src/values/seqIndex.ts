import type { EventView } from "../api/types";

/** Index of an event in sorted rows, by binary search; -1 if it is not there. */
export function indexOfSeq(rows: EventView[], seq: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = rows[middle]?.seq ?? 0;
    if (at === seq) return middle;
    if (at < seq) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Index of an event in rows that need not be in order. */
export function indexOfRow(rows: EventView[], seq: number, isOrdered: boolean): number {
  const at = indexOfSeq(rows, seq);
  return at >= 0 || isOrdered ? at : rows.findIndex((row) => row.seq === seq);
}
