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
    fetchResult(call_id).then(
      (text) =>
        !isGone &&
        setFar({ id: call_id, value: JSON.parse(text), isLoading: false, problem: null }),
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
