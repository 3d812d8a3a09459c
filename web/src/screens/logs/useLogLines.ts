// Log lines as they come, drawn ten times a second at most: a flood leaves room for typing.
import { startTransition, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { EventView } from "../../api/types";
import { type EventRing, useRing } from "../../state/events";
import { FilteredEvents } from "../../state/filteredEvents";

const EVERY_MS = 100;

export interface LogStream {
  filtered: FilteredEvents;
  subscribe(listener: () => void): () => void;
}

/** Tells of new events at most so often, and of the last ones always. */
export function throttledSubscribe(
  ring: Pick<EventRing, "subscribe">,
  everyMs: number,
): LogStream["subscribe"] {
  return (listener) => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let toldAt = Number.NEGATIVE_INFINITY;
    const tell = (): void => {
      timer = null;
      toldAt = performance.now();
      listener();
    };
    const stop = ring.subscribe(() => {
      if (timer === null)
        timer = setTimeout(tell, Math.max(0, toldAt + everyMs - performance.now()));
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  };
}

/** The lines that `wanted` lets through; give it a stable function. */
export function useLogStream(wanted: (event: EventView) => boolean): LogStream {
  const ring = useRing();
  return useMemo(
    () => ({
      filtered: new FilteredEvents(ring, wanted),
      subscribe: throttledSubscribe(ring, EVERY_MS),
    }),
    [ring, wanted],
  );
}

/** The lines now. They give way to keys and clicks while they are drawn. */
export function useLogRows({ filtered, subscribe }: LogStream): EventView[] {
  const [, redraw] = useState(0);
  useEffect(() => {
    const later = (): void => startTransition(() => redraw((count) => count + 1));
    later(); // for what came since this was drawn
    return subscribe(later);
  }, [subscribe]);
  return filtered.refresh();
}

export const useLogCount = ({ filtered, subscribe }: LogStream): number =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length);

export const useIsLogEmpty = ({ filtered, subscribe }: LogStream): boolean =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length === 0);
