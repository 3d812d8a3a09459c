// Whether the backend is not reachable, so that the shown state may be outdated.
import { useEffect, useState } from "react";
import { useInspector } from "../state/store";

// Quicker reconnects are not shown.
const PATIENCE_MS = 600;

export function useBackendDown(): boolean {
  const isDown = useInspector(
    ({ link }) => link.state === "waiting" || (link.state === "connecting" && link.attempts > 0),
  );
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isDown) return setSlow(false);
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isDown]);
  return isDown && isSlow;
}
