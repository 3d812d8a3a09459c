// The result of a call as the server wrote it: from its view at once when it is small, and with
// every digit as soon as its text has been fetched.
import { useEffect, useState } from "react";
import { fetchResult } from "../api/http";
import type { CallView } from "../api/types";
import { parseExactly } from "../values/exactJson";
import { errorMessage } from "../values/format";

export interface CallResult {
  value: unknown;
  /** Its text as it came; null until it has been fetched. */
  text: string | null;
  isLoading: boolean;
  problem: string | null;
}

interface FetchedResult {
  value: unknown;
  text: string;
  isExact: boolean;
}

// Cache of the last large results; the parts of a panel share one response.
const HELD = 3;
const held = new Map<string, Promise<FetchedResult>>();

function fetchOnce(callId: string): Promise<FetchedResult> {
  const found = held.get(callId);
  if (found) return found;
  const work = fetchResult(callId).then((text) => ({ text, ...parseExactly(text) }));
  held.set(callId, work);
  work.catch(() => held.delete(callId));
  for (const oldest of held.keys()) {
    if (held.size <= HELD) break;
    held.delete(oldest);
  }
  return work;
}

type Far = { id: string } & ({ got: FetchedResult } | { problem: string });

export function useCallResult(call: CallView): CallResult {
  const { call_id, status, result, result_size_bytes } = call;
  const isThere = status === "completed" && result_size_bytes > 0;
  const [far, setFar] = useState<Far | null>(null);
  useEffect(() => {
    if (!isThere) return;
    let isGone = false;
    fetchOnce(call_id).then(
      (got) => !isGone && setFar({ id: call_id, got }),
      (thrown) => !isGone && setFar({ id: call_id, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [call_id, isThere]);
  const near = { value: result ?? undefined, text: null, isLoading: false, problem: null };
  if (!isThere) return near;
  const mine = far?.id === call_id ? far : null;
  if (mine && "got" in mine) {
    // Keep the same value to avoid a re-render.
    const value = mine.got.isExact || result == null ? mine.got.value : result;
    return { value, text: mine.got.text, isLoading: false, problem: null };
  }
  if (result != null) return near;
  return { value: undefined, text: null, isLoading: !mine, problem: mine?.problem ?? null };
}
