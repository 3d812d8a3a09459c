// The result of a call as the server wrote it, or the JSON-RPC error that it answered with: from its
// view at once when it is small, and with every digit as soon as its text has been fetched.
import { useEffect, useMemo, useState } from "react";
import { fetchReply, fetchResult } from "../api/http";
import type { CallView, ErrorView } from "../api/types";
import { parseExactly } from "../values/exactJson";
import { errorMessage } from "../values/format";
import { fieldsOf } from "../values/jsonObject";

export interface CallResult {
  value: unknown;
  /** Its text as it came; null until it has been fetched. */
  text: string | null;
  isLoading: boolean;
  problem: string | null;
}

interface FetchedResult {
  value: unknown;
  text: string | null;
  isExact: boolean;
}

// Cache of the last large results; the parts of a panel share one response.
const HELD = 3;
const held = new Map<string, Promise<FetchedResult>>();

/** The JSON-RPC error that a call failed with; null if it failed in another way. */
export function rpcErrorOf(error: ErrorView | null): Record<string, unknown> | null {
  const { rpc_code: code, rpc_message: message, data } = error?.details ?? {};
  if (typeof code !== "number") return null;
  return { code, message, ...(data !== undefined && { data }) };
}

/** The error within the message that carried it: the view of a call has only a part of a large one. */
async function fetchError(callId: string): Promise<FetchedResult> {
  const { text, text_is_cut } = await fetchReply(callId);
  if (text === null || text_is_cut) throw new Error("the message is too large");
  return { value: fieldsOf(parseExactly(text).value).error, text: null, isExact: true };
}

function fetchOnce(callId: string, isError: boolean): Promise<FetchedResult> {
  const found = held.get(callId);
  if (found) return found;
  const work = isError
    ? fetchError(callId)
    : fetchResult(callId).then((text) => ({ text, ...parseExactly(text) }));
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
  const { call_id, status, result_size_bytes, error } = call;
  // What a raw message was answered with is shown whole, errors too.
  const rpcError = useMemo(() => (status === "error" ? rpcErrorOf(error) : null), [status, error]);
  const result = rpcError ?? call.result;
  const isError = rpcError !== null;
  const isThere = isError || (status === "completed" && result_size_bytes > 0);
  const [far, setFar] = useState<Far | null>(null);
  useEffect(() => {
    if (!isThere) return;
    let isGone = false;
    fetchOnce(call_id, isError).then(
      (got) => !isGone && setFar({ id: call_id, got }),
      (thrown) => !isGone && setFar({ id: call_id, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [call_id, isThere, isError]);
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
