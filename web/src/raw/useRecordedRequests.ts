// Requests that were sent to a server in earlier runs, from the recording.
import { useEffect, useState } from "react";
import { fetchHistory } from "../api/http";
import type { EventView } from "../api/types";
import { useInspector } from "../state/store";
import { errorMessage } from "../values/format";

export interface RecordedRequests {
  events: EventView[];
  hasMore: boolean;
  problem: string | null;
}

const NONE: RecordedRequests = { events: [], hasMore: false, problem: null };
// Only requests: answers and notifications are not sent again.
const ANSWERS = new Set<unknown>(["result", "error", "notification"]);

async function sentBefore(
  runId: string,
  serverId: string,
  most: number,
): Promise<RecordedRequests> {
  const query = {
    server_id: serverId,
    kind: "FrameSent",
    newest_first: "1",
    limit: String(most),
  };
  let page = await fetchHistory({ ...query, before: `${runId}:1` });
  // If this run is not recorded, there is no position to start from.
  if (!page.events.length) page = await fetchHistory(query);
  const events = page.events.filter((one) => one.run_id !== runId && !ANSWERS.has(one.status));
  return { events, hasMore: page.has_more && events.length > 0, problem: null };
}

/** Loaded while wanted, newest first. */
export function useRecordedRequests(
  serverId: string,
  isWanted: boolean,
  most: number,
): RecordedRequests {
  const runId = useInspector((state) => state.run_id);
  const [earlier, setEarlier] = useState<RecordedRequests>(NONE);
  useEffect(() => {
    if (!isWanted || runId === null) return;
    let isGone = false;
    sentBefore(runId, serverId, most).then(
      (found) => !isGone && setEarlier(found),
      (thrown) => !isGone && setEarlier({ ...NONE, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [isWanted, runId, serverId, most]);
  return earlier;
}
