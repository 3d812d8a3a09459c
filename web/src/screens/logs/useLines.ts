// Log lines as they come, drawn ten times a second at most: a flood leaves room for typing.
import { startTransition, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { EventView } from "../../api/types";
import { type EventRing, useRing } from "../../state/events";
import { FilteredEvents } from "../../state/filteredEvents";

const EVERY_MS = 100;

export interface Lines {
  filtered: FilteredEvents;
  subscribe(listener: () => void): () => void;
}

/** Tells of new events at most so often, and of the last ones always. */
export function calmly(ring: Pick<EventRing, "subscribe">, everyMs: number): Lines["subscribe"] {
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
export function useLines(wanted: (event: EventView) => boolean): Lines {
  const ring = useRing();
  return useMemo(
    () => ({
      filtered: new FilteredEvents(ring, wanted),
      subscribe: calmly(ring, EVERY_MS),
    }),
    [ring, wanted],
  );
}

/** The lines now. They give way to keys and clicks while they are drawn. */
export function useRows({ filtered, subscribe }: Lines): EventView[] {
  const [, redraw] = useState(0);
  useEffect(() => {
    const later = (): void => startTransition(() => redraw((count) => count + 1));
    later(); // for what came since this was drawn
    return subscribe(later);
  }, [subscribe]);
  return filtered.refresh();
}

export const useCount = ({ filtered, subscribe }: Lines): number =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length);

export const useIsEmpty = ({ filtered, subscribe }: Lines): boolean =>
  useSyncExternalStore(subscribe, () => filtered.refresh().length === 0);
