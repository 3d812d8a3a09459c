// Events of a run that was recorded earlier, page by page into a ring of their own.
import { useEffect, useState } from "react";
import { fetchHistory } from "../api/http";
import { words } from "../parts/format";
import { CAPACITY, EventRing, ring } from "./events";

const PAGE = 2000;

export interface Recorded {
  ring: EventRing;
  isLoading: boolean;
  problem: string | null;
}

const LIVE: Recorded = { ring, isLoading: false, problem: null };

async function fill(into: EventRing, runId: string, isGone: () => boolean): Promise<void> {
  let after = 0;
  while (!isGone() && into.items.length < CAPACITY) {
    const query = { run: runId, after: String(after), limit: String(PAGE) };
    const { events, has_more } = await fetchHistory(query);
    into.append(events);
    after = into.lastSeq ?? after;
    if (!has_more || events.length === 0) return;
  }
}

/** The events of a run; those of now if none is named. */
export function useRecorded(runId: string | null): Recorded {
  const [state, setState] = useState<Recorded>(LIVE);
  useEffect(() => {
    if (runId === null) return setState(LIVE);
    let isGone = false;
    const own = new EventRing();
    setState({ ring: own, isLoading: true, problem: null });
    fill(own, runId, () => isGone).then(
      () => !isGone && setState({ ring: own, isLoading: false, problem: null }),
      (thrown) => !isGone && setState({ ring: own, isLoading: false, problem: words(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [runId]);
  return state;
}
