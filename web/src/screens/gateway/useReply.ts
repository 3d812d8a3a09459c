// The reply to a command, fetched anew whenever its key changes.
import { useEffect, useState } from "react";
import type { ErrorView } from "../../api/types";
import { errorViewOf } from "../../state/toasts";

interface Reply<T> {
  value: T | null;
  error: ErrorView | null;
}

/** The former reply stays until the next one has come. */
export function useReply<T>(key: string | number, ask: () => Promise<T>): Reply<T> {
  const [reply, setReply] = useState<Reply<T>>({ value: null, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when to ask again
  useEffect(() => {
    let isGone = false;
    ask().then(
      (value) => !isGone && setReply({ value, error: null }),
      (thrown: unknown) => !isGone && setReply({ value: null, error: errorViewOf(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [key]);
  return reply;
}
