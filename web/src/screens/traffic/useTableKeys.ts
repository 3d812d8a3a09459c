// Choosing rows by mouse and keyboard: one, several with Ctrl, a range with Shift; in a tree left
// and right fold and unfold.
import { type KeyboardEvent, type MouseEvent, useCallback, useRef } from "react";
import type { EventView } from "../../api/types";
import { indexOfRow } from "../../values/seqIndex";
import type { TrafficTree } from "./trafficTree";

/** Rows that are marked beside the chosen one, by their seq. */
export type Marked = ReadonlyMap<number, EventView>;

export const NO_MARKS: Marked = new Map();

export interface Selection {
  /** The row whose details are shown. */
  chosen: number | null;
  marked: Marked;
  onChoose(event: EventView): void;
  onMark(marked: Marked): void;
}

const PAGE = 20;
// A selection is copied and exported message by message; more is what the export of all is for.
const MOST_MARKED = 10_000;

const toMarked = (rows: EventView[]): Marked =>
  new Map(rows.slice(0, MOST_MARKED).map((row) => [row.seq, row]));

/** Handles a key in a tree: returns the row to go to, or true if the key was handled. */
function treeKey(
  rows: EventView[],
  at: number,
  key: string,
  tree: TrafficTree,
  toggle: (event: EventView) => void,
): EventView | boolean {
  const row = rows[at];
  if (!row || (key !== "ArrowRight" && key !== "ArrowLeft")) return false;
  const isOpen = tree.isOpen(row);
  if (isOpen === (key === "ArrowLeft")) toggle(row);
  else if (key === "ArrowRight") return (isOpen && rows[at + 1]) || true;
  else {
    const level = tree.levelOf(row);
    return rows.slice(0, at).findLast((one) => tree.levelOf(one) < level) ?? true;
  }
  return true;
}

/** The chosen rows with one more, or without it. */
function toggled(marked: Marked, rows: EventView[], at: number, event: EventView): Marked {
  const next = new Map(marked);
  const chosen = rows[at];
  if (next.size === 0 && chosen) next.set(chosen.seq, chosen);
  if (!next.delete(event.seq)) next.set(event.seq, event);
  return next;
}

export function useTableKeys(
  rows: EventView[],
  at: number,
  selection: Selection,
  tree: TrafficTree | null,
  toggle: (event: EventView) => void,
) {
  const { chosen, marked, onChoose, onMark } = selection;
  const anchor = useRef<number | null>(null);
  const latest = useRef({ rows, at, marked, chosen });
  latest.current = { rows, at, marked, chosen };
  const choose = useCallback(
    (event: EventView): void => {
      anchor.current = event.seq;
      if (latest.current.marked.size) onMark(NO_MARKS);
      onChoose(event);
    },
    [onChoose, onMark],
  );
  const extend = useCallback(
    (event: EventView): void => {
      const { rows: all, chosen: first } = latest.current;
      anchor.current ??= first ?? event.seq;
      const from = Math.max(0, indexOfRow(all, anchor.current, false));
      const to = indexOfRow(all, event.seq, false);
      onMark(toMarked(all.slice(Math.min(from, to), Math.max(from, to) + 1)));
    },
    [onMark],
  );
  const onPick = useCallback(
    (event: EventView, click: MouseEvent): void => {
      const now = latest.current;
      if (click.shiftKey) extend(event);
      else if (!click.ctrlKey && !click.metaKey) choose(event);
      else {
        anchor.current = event.seq;
        onMark(toggled(now.marked, now.rows, now.at, event));
      }
    },
    [choose, extend, onMark],
  );
  /** Keys that are about several rows. */
  const markingKey = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => {
    if (key === "a" && (ctrlKey || metaKey)) onMark(toMarked(rows));
    else if (key === "Escape" && marked.size) onMark(NO_MARKS);
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // The heads have keys of their own.
    if ((event.target as Element).closest('[role="columnheader"]')) return;
    const walked = markingKey(event) || (tree && treeKey(rows, at, event.key, tree, toggle));
    const step = stepOf(event.key, rows.length);
    if (!walked && step === undefined) return;
    event.preventDefault();
    if (walked === true) return;
    const from = at < 0 ? rows.length : at;
    const next = walked || rows[Math.min(rows.length - 1, Math.max(0, from + (step ?? 0)))];
    if (next && event.shiftKey) {
      extend(next);
      onChoose(next);
    } else if (next) choose(next);
  };
  return { onPick, onKeyDown };
}

/** By how many rows a key moves. */
function stepOf(key: string, all: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: PAGE,
    PageUp: -PAGE,
    Home: -all,
    End: all,
  };
  return steps[key];
}
