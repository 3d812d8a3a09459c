// Windowing for rows of one fixed height: which rows are on the screen, and following the end.
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

// Rows drawn beyond each edge, so that a quick scroll shows no gap.
const BEYOND = 10;
// Browsers cap an element's height near 33 million pixels.
const TALLEST_PX = 30_000_000;

export interface Window {
  scroller: RefObject<HTMLDivElement | null>;
  first: number;
  last: number;
  height: number;
  isFollowing: boolean;
  follow(on: boolean): void;
  onScroll(): void;
  scrollTo(index: number): void;
}

/** Which rows a scroller of this height shows at this place: from `first` up to before `last`. */
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

export function useWindow(count: number, rowHeight: number, startsFollowing: boolean): Window {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [isFollowing, setFollowing] = useState(startsFollowing);
  const height = Math.min(count * rowHeight, TALLEST_PX);

  const look = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, clientHeight } = element;
    // The same rows as long as it is the same row that is the first.
    const top = scrollTop - (scrollTop % rowHeight);
    setView((old) =>
      old.top === top && old.height === clientHeight ? old : { top, height: clientHeight },
    );
  }, [rowHeight]);
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    // Scrolling up lets go of the end, scrolling back to it takes hold again.
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight;
    setFollowing((was) => (startsFollowing || was) && isAtEnd);
    look();
  }, [look, rowHeight, startsFollowing]);

  useLayoutEffect(() => {
    if (isFollowing && scroller.current) scroller.current.scrollTop = height;
    look();
  }, [height, isFollowing, look]);
  useLayoutEffect(() => {
    if (!scroller.current) return;
    const observer = new ResizeObserver(look);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [look]);

  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current;
      if (!element) return;
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight - element.clientHeight;
      }
    },
    [rowHeight],
  );
  const { first, last } = rowsAt(view.top, view.height, rowHeight, count);
  return { scroller, first, last, height, isFollowing, follow: setFollowing, onScroll, scrollTo };
}
