// One clock for all that counts: only the cells that show it are drawn again each second.
import { useSyncExternalStore } from "react";

let now = Date.now() / 1000;
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function tick(): void {
  now = Date.now() / 1000;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) {
    now = Date.now() / 1000;
    timer = setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

const never = (): (() => void) => () => undefined;

/** Wall clock seconds, renewed while something counts. */
export const useTick = (isCounting: boolean): number =>
  useSyncExternalStore(isCounting ? subscribe : never, () => now);
