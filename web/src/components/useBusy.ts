// Runs one task at a time, however often its button is pressed.
import { useCallback, useRef, useState } from "react";

export interface Busy {
  isBusy: boolean;
  /** Start, unless the previous work is still running. */
  run(work: () => Promise<unknown>): void;
}

export function useBusy(): Busy {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = useCallback((work: () => Promise<unknown>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    void work().finally(() => {
      isRunning.current = false;
      setBusy(false);
    });
  }, []);
  return { isBusy, run };
}
