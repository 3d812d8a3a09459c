// The result of a call: from its view when it is small, else fetched when somebody looks.
import { useEffect, useState } from "react";
import { fetchResult } from "../api/http";
import type { CallView } from "../api/types";
import { words } from "../parts/format";

export interface Result {
  value: unknown;
  isLoading: boolean;
  problem: string | null;
}

// Large results that were looked at last; the parts of a panel share one answer.
const HELD = 3;
const held = new Map<string, Promise<unknown>>();

function fetched(callId: string): Promise<unknown> {
  const found = held.get(callId);
  if (found) return found;
  const work = fetchResult(callId).then((text) => JSON.parse(text) as unknown);
  held.set(callId, work);
  work.catch(() => held.delete(callId));
  for (const oldest of held.keys()) {
    if (held.size <= HELD) break;
    held.delete(oldest);
  }
  return work;
}

export function useResult(call: CallView): Result {
  const { call_id, status, result, result_size_bytes } = call;
  const isFar = status === "completed" && result == null && result_size_bytes > 0;
  const [far, setFar] = useState<Result & { id: string }>({
    id: "",
    value: undefined,
    isLoading: false,
    problem: null,
  });
  useEffect(() => {
    if (!isFar) return;
    let isGone = false;
    setFar({ id: call_id, value: undefined, isLoading: true, problem: null });
    fetched(call_id).then(
      (value) => !isGone && setFar({ id: call_id, value, isLoading: false, problem: null }),
      (thrown) =>
        !isGone &&
        setFar({ id: call_id, value: undefined, isLoading: false, problem: words(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [call_id, isFar]);
  if (!isFar) return { value: result ?? undefined, isLoading: false, problem: null };
  return far.id === call_id ? far : { value: undefined, isLoading: true, problem: null };
}
