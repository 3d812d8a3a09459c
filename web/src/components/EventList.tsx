// A windowed list of events, one line each. It follows the newest row until the user scrolls up.
import { Button } from "@mantine/core";
import {
  type HTMLAttributes,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from "react";
import type { EventView } from "../api/types";
import { useRowHeights } from "../state/density";
import { indexOfSeq } from "../values/seqIndex";
import css from "./EventList.module.css";
import { Icon } from "./Icon";
import { type RowWindow, useRowWindow } from "./useRowWindow";

/** Nesting of the rows. */
interface Outline {
  levelOf(event: EventView): number;
  /** Undefined for a row without children. */
  isOpen(event: EventView): boolean | undefined;
  toggle(event: EventView): void;
}

interface Props {
  label: string;
  rows: EventView[];
  chosen?: number | null;
  onChoose?(event: EventView): void;
  /** `visible` holds all rows that are rendered now. */
  render(event: EventView, visible: EventView[]): ReactNode;
  tone?(event: EventView): string | undefined;
  /** Makes the list a tree; its rows need not be in order. */
  outline?: Outline;
}

/** Focus the list within an element. */
export const focusList = (within: HTMLElement | null): void =>
  within?.querySelector<HTMLElement>('[role="listbox"], [role="tree"]')?.focus();

function indexOfRow(rows: EventView[], seq: number, isTree: boolean): number {
  const at = indexOfSeq(rows, seq);
  return at < 0 && isTree ? rows.findIndex((row) => row.seq === seq) : at;
}

/** Handles a key in a tree: returns the row to go to, or true if the key was handled. */
function handleTreeKey(
  rows: EventView[],
  at: number,
  key: string,
  outline: Outline,
): EventView | boolean {
  const row = rows[at];
  if (!row || (key !== "ArrowRight" && key !== "ArrowLeft")) return false;
  const isOpen = outline.isOpen(row);
  if (isOpen === (key === "ArrowLeft")) outline.toggle(row);
  else if (key === "ArrowRight") return (isOpen && rows[at + 1]) || true;
  else {
    const level = outline.levelOf(row);
    return rows.slice(0, at).findLast((one) => outline.levelOf(one) < level) ?? true;
  }
  return true;
}

/** ARIA attributes of a tree row, which replace those of a list option. */
const treeItemProps = (event: EventView, outline?: Outline): HTMLAttributes<HTMLDivElement> =>
  outline
    ? {
        role: "treeitem",
        "aria-level": outline.levelOf(event) + 1,
        "aria-expanded": outline.isOpen(event),
      }
    : {};

/** Keeps the scroll position stable when rows are added or removed above. */
function useStablePosition(rows: EventView[], window: RowWindow, isTree: boolean): void {
  const read = useRef<{ seq: number; at: number } | null>(null);
  useLayoutEffect(() => {
    const before = read.current;
    if (before && !window.isFollowing && rows[before.at]?.seq !== before.seq) {
      const at = indexOfRow(rows, before.seq, isTree);
      if (at >= 0) {
        read.current = { ...before, at };
        return window.shift(at - before.at);
      }
    }
    const row = rows[window.top];
    read.current = row ? { seq: row.seq, at: window.top } : null;
  });
}

export function EventList({ label, rows, chosen = null, onChoose, render, tone, outline }: Props) {
  const id = useId();
  const { row: rowPx } = useRowHeights();
  const window = useRowWindow(rows.length, rowPx, true);
  useStablePosition(rows, window, outline !== undefined);
  const at = chosen === null ? -1 : indexOfRow(rows, chosen, outline !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the choice moves or comes in, not when other rows do
  useEffect(() => {
    if (at < 0) return;
    window.follow(false);
    window.scrollTo(at);
  }, [chosen, at < 0]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -rows.length,
      End: rows.length,
    };
    const walked = outline ? handleTreeKey(rows, at, event.key, outline) : false;
    if (walked) event.preventDefault();
    if (typeof walked === "object") onChoose?.(walked);
    const step = steps[event.key];
    if (step === undefined || !onChoose) return;
    event.preventDefault();
    const from = at < 0 ? rows.length : at;
    const next = rows[Math.min(rows.length - 1, Math.max(0, from + step))];
    if (next) onChoose(next);
  };
  const visible = rows.slice(window.first, window.last);
  const isDrawn = at >= window.first && at < window.last;
  return (
    <div className={css.place}>
      <div
        ref={window.scroller}
        className={css.scroller}
        onScroll={window.onScroll}
        onKeyDown={onKeyDown}
        role="listbox"
        aria-label={label}
        aria-activedescendant={isDrawn ? `${id}${chosen}` : undefined}
        tabIndex={0}
        {...(outline && { role: "tree" })}
      >
        <div style={{ height: window.height }} className={css.space} role="presentation">
          <div style={{ transform: `translateY(${window.first * rowPx}px)` }} role="presentation">
            {visible.map((event) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself handles the keys
              <div
                key={event.seq}
                id={`${id}${event.seq}`}
                role="option"
                tabIndex={-1}
                aria-selected={event.seq === chosen}
                className={css.row}
                data-tone={tone?.(event)}
                {...treeItemProps(event, outline)}
                onClick={() => onChoose?.(event)}
              >
                {render(event, visible)}
              </div>
            ))}
          </div>
        </div>
      </div>
      {!window.isFollowing && rows.length > 0 && (
        <Button
          className={css.follow}
          size="compact-xs"
          variant="default"
          leftSection={<Icon name="down" size={12} />}
          onClick={() => window.follow(true)}
        >
          Follow the newest
        </Button>
      )}
    </div>
  );
}
