// Rows in the order of a column. Sorting 100,000 rows takes a while, and rows change while requests
// wait: it is done again at intervals that go by how long it took.
import { useEffect, useReducer, useRef } from "react";
import type { EventView } from "../../api/types";

export interface Sort {
  column: string;
  isDown: boolean;
}

type Key = string | number | null;

/** The next order when a column's head is chosen: up, down, and as they came. */
export function nextSort(sort: Sort | null, column: string): Sort | null {
  if (sort?.column !== column) return { column, isDown: false };
  return sort.isDown ? null : { column, isDown: true };
}

/** Text by its characters: a collation would take ten times as long. */
function compared(one: Key, other: Key): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  const [first, second] = [String(one), String(other)];
  return first < second ? -1 : Number(first > second);
}

/** Rows by their key; what is nested stays beneath its root, what has no key comes last. */
export function sortedRows(
  rows: EventView[],
  levelOf: (event: EventView) => number,
  keyOf: (event: EventView) => Key,
  isDown: boolean,
): EventView[] {
  const blocks: { key: Key; seq: number; from: number; to: number }[] = [];
  rows.forEach((row, at) => {
    const last = blocks.at(-1);
    if (last && levelOf(row) > 0) last.to = at + 1;
    else blocks.push({ key: keyOf(row), seq: row.seq, from: at, to: at + 1 });
  });
  const sign = isDown ? -1 : 1;
  const isNone = (key: Key): boolean => key === null || key === "";
  blocks.sort((one, other) => {
    if (isNone(one.key) || isNone(other.key))
      return Number(isNone(one.key)) - Number(isNone(other.key)) || one.seq - other.seq;
    return sign * compared(one.key, other.key) || one.seq - other.seq;
  });
  return blocks.flatMap(({ from, to }) => rows.slice(from, to));
}

const LEAST_MS = 250;
// Sorting may take this share of the time.
const SHARE = 0.05;

interface Kept<T> {
  source: EventView[];
  version: number;
  reason: unknown;
  result: T;
  at: number;
  cost_ms: number;
}

/** Calls `work` when its source is another one; for a new version of the same at intervals. */
export function usePaced<T>(
  source: EventView[],
  version: number,
  reason: unknown,
  work: () => T,
): T {
  const kept = useRef<Kept<T> | null>(null);
  const [, again] = useReducer((count: number) => count + 1, 0);
  const old = kept.current;
  const isOther = old === null || old.source !== source || old.reason !== reason;
  const isStale = isOther || old.version !== version;
  const due = old === null ? 0 : old.at + Math.max(LEAST_MS, old.cost_ms / SHARE);
  const now = performance.now();
  if (isOther || (isStale && now >= due)) {
    const result = work();
    const cost_ms = performance.now() - now;
    kept.current = { source, version, reason, result, at: now, cost_ms };
  }
  const { result } = kept.current as Kept<T>;
  const wait = isStale && kept.current === old ? due - now : null;
  useEffect(() => {
    if (wait === null) return;
    const timer = setTimeout(again, Math.max(0, wait));
    return () => clearTimeout(timer);
  });
  return result;
}
