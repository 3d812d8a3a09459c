// A shared clock per interval: only its users re-render.
import { useSyncExternalStore } from "react";

interface Clock {
  subscribe(listener: () => void): () => void;
  read(): number;
}

const seconds = (): number => Date.now() / 1000;

function clockOf(everyMs: number): Clock {
  let now = seconds();
  let timer: ReturnType<typeof setInterval> | null = null;
  const listeners = new Set<() => void>();
  const tick = (): void => {
    now = seconds();
    for (const listener of listeners) listener();
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      if (timer === null) {
        now = seconds();
        timer = setInterval(tick, everyMs);
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
    read() {
      // Without subscribers the clock does not tick.
      if (timer === null && Math.abs(seconds() - now) * 1000 > everyMs) now = seconds();
      return now;
    },
  };
}

const clocks = new Map<number, Clock>();
const never = (): (() => void) => () => undefined;

/** Wall clock seconds, updated while `isCounting`. */
export function useNow(isCounting: boolean, everyMs = 1000): number {
  let clock = clocks.get(everyMs);
  if (!clock) {
    clock = clockOf(everyMs);
    clocks.set(everyMs, clock);
  }
  return useSyncExternalStore(isCounting ? clock.subscribe : never, clock.read);
}
