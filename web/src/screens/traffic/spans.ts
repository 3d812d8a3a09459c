import type { EventView } from "../../api/types";

/** The first and last number of each span of rows that follow one another, for rows in order. */
export function spansOf(rows: EventView[]): number[] {
  const spans: number[] = [];
  for (const { seq } of rows) {
    if (spans.at(-1) === seq - 1) spans[spans.length - 1] = seq;
    else spans.push(seq, seq);
  }
  return spans;
}
