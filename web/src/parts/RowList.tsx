// Rows of events: one line each, windowed, followed at the end until somebody scrolls up.
import { Button } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useEffect } from "react";
import type { EventView } from "../api/types";
import { Icon } from "./icons";
import css from "./RowList.module.css";
import { useWindow } from "./useWindow";

const ROW_PX = 24;

interface Props {
  label: string;
  rows: EventView[];
  chosen?: number | null;
  onChoose?(event: EventView): void;
  draw(event: EventView): ReactNode;
  tone?(event: EventView): string | undefined;
}

/** Where an event stands in rows that are in order. */
export function indexOf(rows: EventView[], seq: number): number {
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

export function RowList({ label, rows, chosen = null, onChoose, draw, tone }: Props) {
  const window = useWindow(rows.length, ROW_PX, true);
  const at = chosen === null ? -1 : indexOf(rows, chosen);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the choice moves, not when rows come
  useEffect(() => {
    if (at < 0) return;
    window.follow(false);
    window.scrollTo(at);
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step === undefined || !onChoose) return;
    event.preventDefault();
    const from = at < 0 ? rows.length : at;
    const next = rows[Math.min(rows.length - 1, Math.max(0, from + step))];
    if (next) onChoose(next);
  };
  const visible = rows.slice(window.first, window.last);
  return (
    <div className={css.place}>
      <div
        ref={window.scroller}
        className={css.scroller}
        onScroll={window.onScroll}
        onKeyDown={onKeyDown}
        role="listbox"
        aria-label={label}
        tabIndex={0}
      >
        <div style={{ height: window.height }} className={css.space} role="presentation">
          <div style={{ transform: `translateY(${window.first * ROW_PX}px)` }} role="presentation">
            {visible.map((event) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself handles the keys
              <div
                key={event.seq}
                role="option"
                tabIndex={-1}
                aria-selected={event.seq === chosen}
                className={css.row}
                data-tone={tone?.(event)}
                onClick={() => onChoose?.(event)}
              >
                {draw(event)}
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
