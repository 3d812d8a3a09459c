// Windowing for rows of fixed height: which rows are visible, and following the end.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

// Overscan, so that a quick scroll shows no gap.
const BEYOND = 10;
// Browsers cap an element's height near 33 million pixels.
const TALLEST_PX = 30_000_000;

export interface RowWindow {
  scroller: RefObject<HTMLDivElement | null>;
  first: number;
  last: number;
  /** The row at the upper edge. */
  top: number;
  height: number;
  /** Whether all rows are in view. */
  fits: boolean;
  isFollowing: boolean;
  follow(on: boolean): void;
  onScroll(): void;
  scrollTo(index: number): void;
  /** Scroll by this many rows. */
  shift(rows: number): void;
}

/** The rows that are visible at a scroll position: from `first` to before `last`. */
export function rowsAt(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / rowHeight) - BEYOND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND);
  return { first: Math.min(first, Math.max(0, last - 1)), last };
}

export function useRowWindow(
  count: number,
  rowHeight: number,
  startsFollowing: boolean,
  /** Height of what stays at the upper edge while the rows scroll beneath it. */
  headPx = 0,
): RowWindow {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [isFollowing, setFollowing] = useState(startsFollowing);
  const seen = useRef({ top: 0, height: 0 });
  const height = Math.min(count * rowHeight, TALLEST_PX);

  // At the end the position is known without measuring, which saves a render.
  const look = useCallback(
    (isAtEnd: boolean) => {
      const element = scroller.current;
      if (!element) return;
      const { scrollTop, clientHeight } = element;
      // Rounded to rows: the same first row means the same window.
      const top = scrollTop - (scrollTop % rowHeight);
      setView((old) =>
        (isAtEnd || old.top === top) && old.height === clientHeight
          ? old
          : { top, height: clientHeight },
      );
    },
    [rowHeight],
  );
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    // Scrolling up stops following the end, scrolling back to it resumes. Ignore scrolls that are
    // caused by a changed number of rows.
    const { scrollTop: top, scrollHeight: height, clientHeight } = element;
    const isUp = top < seen.current.top && height === seen.current.height;
    const isAtEnd = height - top - clientHeight < rowHeight;
    seen.current = { top, height };
    setFollowing((was) => (startsFollowing && isAtEnd) || (was && !isUp));
    look(startsFollowing && isAtEnd);
  }, [look, rowHeight, startsFollowing]);

  const settle = useCallback(() => {
    const element = scroller.current;
    if (isFollowing && element) {
      element.scrollTop = element.scrollHeight;
      seen.current = { top: element.scrollTop, height: element.scrollHeight };
    }
    look(isFollowing);
  }, [isFollowing, look]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: settles when there are more rows, or fewer
  useLayoutEffect(settle, [settle, height]);
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(settle);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [settle]);

  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (!element) return;
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight + headPx > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight + headPx - element.clientHeight;
      }
    },
    [rowHeight, headPx],
  );
  const shift = useCallback(
    (rows: number) => {
      if (scroller.current) scroller.current.scrollTop += rows * rowHeight;
      look(false);
    },
    [rowHeight, look],
  );
  const place = isFollowing ? Math.max(0, height - view.height) : view.top;
  const { first, last } = rowsAt(place, view.height, rowHeight, count);
  const top = Math.floor(place / rowHeight);
  return {
    scroller,
    first,
    last,
    top,
    height,
    fits: height + headPx <= view.height,
    isFollowing,
    follow: setFollowing,
    onScroll,
    scrollTo,
    shift,
  };
}

/** Shows the chosen row, at this index or -1; the newest rows are no longer followed. */
export function useScrollToChosen(window: RowWindow, chosen: number | null, at: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the choice moves or comes in, not when other rows do
  useEffect(() => {
    if (at < 0) return;
    window.follow(false);
    window.scrollTo(at);
  }, [chosen, at < 0]);
}
