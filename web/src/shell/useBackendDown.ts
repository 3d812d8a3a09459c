// Whether mcplens itself does not answer this page, so that nothing newer is known.
import { useEffect, useState } from "react";
import { useInspector } from "../state/store";

// A reconnect that is quicker than this is not worth a word.
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
