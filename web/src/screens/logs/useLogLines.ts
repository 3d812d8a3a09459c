// Live log lines, rendered at most ten times a second, so that a flood does not block typing.
import { startTransition, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { EventView } from "../../api/types";
import { type EventRing, useRing } from "../../state/events";
import { FilteredEvents } from "../../state/filteredEvents";

const EVERY_MS = 100;

export interface LogStream {
  filtered: FilteredEvents;
  subscribe(listener: () => void): () => void;
}

/** Throttled subscription; the last change is always reported. */
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

/** The lines that match `wanted`, which must be a stable function. */
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

/** The current lines, rendered in a transition so that input stays responsive. */
export function useLogRows({ filtered, subscribe }: LogStream): EventView[] {
  const [, redraw] = useState(0);
  useEffect(() => {
    const later = (): void => startTransition(() => redraw((count) => count + 1));
    later(); // for events since the last render
    return subscribe(later);
  }, [subscribe]);
  return filtered.refresh();
}

export const useLogCount = ({ filtered, subscribe }: LogStream): number =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length);

export const useIsLogEmpty = ({ filtered, subscribe }: LogStream): boolean =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length === 0);
