// What was sent with a call, with every digit: fetched when somebody wants to see or copy it.
import { useEffect, useState } from "react";
import { fetchRequest } from "../api/http";
import type { CallView } from "../api/types";
import { parseExactly } from "../values/exactJson";
import { errorMessage } from "../values/format";

export interface FetchedRequest {
  /** The params; of a raw call, its text. Undefined until it has been fetched. */
  value: unknown;
  problem: string | null;
}

const NOT_YET: FetchedRequest = { value: undefined, problem: null };

export function useCallRequest(call: CallView, isWanted: boolean): FetchedRequest {
  const { call_id } = call;
  const [far, setFar] = useState<FetchedRequest & { id: string }>({ id: "", ...NOT_YET });
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    fetchRequest(call_id).then(
      (text) => !isGone && setFar({ id: call_id, value: parseExactly(text).value, problem: null }),
      (thrown) =>
        !isGone && setFar({ id: call_id, value: undefined, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [call_id, isWanted]);
  return far.id === call_id ? far : NOT_YET;
}
