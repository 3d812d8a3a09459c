import { useEffect, useState } from "react";

/** Wall clock seconds, renewed while something counts. */
export function useNow(isCounting: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!isCounting) return;
    setNow(Date.now() / 1000);
    const timer = setInterval(() => setNow(Date.now() / 1000), everyMs);
    return () => clearInterval(timer);
  }, [isCounting, everyMs]);
  return now;
}
