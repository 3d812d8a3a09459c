// Which calls a person can see right now: what happens to these needs no toast.
import { useEffect } from "react";

const panels = new Map<string, number>();

/** Say that this call is shown, as long as the component is. */
export function useOnScreen(callId: string): void {
  useEffect(() => {
    panels.set(callId, (panels.get(callId) ?? 0) + 1);
    return () => {
      const left = (panels.get(callId) ?? 1) - 1;
      if (left > 0) panels.set(callId, left);
      else panels.delete(callId);
    };
  }, [callId]);
}

export const isOnScreen = (callId: string): boolean => panels.has(callId);
