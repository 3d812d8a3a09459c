// A windowed list of events, one line each. It follows the newest row until the user scrolls up.
import { type KeyboardEvent, type ReactNode, useId } from "react";
import type { EventView } from "../api/types";
import { useRowHeights } from "../state/density";
import { indexOfSeq } from "../values/seqIndex";
import css from "./EventList.module.css";
import lined from "./EventRows.module.css";
import { FollowButton } from "./FollowButton";
import { useRowWindow, useScrollToChosen } from "./useRowWindow";
import { useStablePosition } from "./useStablePosition";

interface Props {
  label: string;
  rows: EventView[];
  chosen?: number | null;
  onChoose?(event: EventView): void;
  /** `visible` holds all rows that are rendered now. */
  render(event: EventView, visible: EventView[]): ReactNode;
  tone?(event: EventView): string | undefined;
}

/** Focus the list within an element. */
export const focusList = (within: HTMLElement | null): void =>
  within?.querySelector<HTMLElement>('[role="listbox"], [role="grid"], [role="treegrid"]')?.focus();

export function EventList({ label, rows, chosen = null, onChoose, render, tone }: Props) {
  const id = useId();
  const { row: rowPx } = useRowHeights();
  const window = useRowWindow(rows.length, rowPx, true);
  useStablePosition(rows, window, true);
  const at = chosen === null ? -1 : indexOfSeq(rows, chosen);
  useScrollToChosen(window, chosen, at);
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
  const isDrawn = at >= window.first && at < window.last;
  return (
    <div className={lined.place}>
      <div
        ref={window.scroller}
        className={`${lined.scroller} ${css.scroller}`}
        onScroll={window.onScroll}
        onKeyDown={onKeyDown}
        role="listbox"
        aria-label={label}
        aria-activedescendant={isDrawn ? `${id}${chosen}` : undefined}
        tabIndex={0}
      >
        <div style={{ height: window.height }} className={lined.space} role="presentation">
          <div style={{ transform: `translateY(${window.first * rowPx}px)` }} role="presentation">
            {visible.map((event) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself handles the keys
              <div
                key={event.seq}
                id={`${id}${event.seq}`}
                role="option"
                tabIndex={-1}
                aria-selected={event.seq === chosen}
                className={`${lined.row} ${css.row}`}
                data-tone={tone?.(event)}
                onClick={() => onChoose?.(event)}
              >
                {render(event, visible)}
              </div>
            ))}
          </div>
        </div>
      </div>
      {rows.length > 0 && <FollowButton window={window} />}
    </div>
  );
}
