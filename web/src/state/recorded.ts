// Events of a run that was recorded earlier, page by page into a ring of their own.
import { useEffect, useState } from "react";
import { fetchHistory } from "../api/http";
import { words } from "../parts/format";
import { EventRing, ring } from "./events";

// As many as the backend gives at once: parsed within a frame, and few enough trips.
const PAGE = 5000;

export interface Recorded {
  ring: EventRing;
  isLoading: boolean;
  problem: string | null;
}

const LIVE: Recorded = { ring, isLoading: false, problem: null };

const pageAfter = (runId: string, seq: number) =>
  fetchHistory({ run: runId, after: String(seq), limit: String(PAGE) });

async function fill(into: EventRing, runId: string, isGone: () => boolean): Promise<void> {
  let page = await pageAfter(runId, 0);
  while (!isGone()) {
    const last = page.events.at(-1);
    const isMore = page.has_more && into.items.length + page.events.length < into.capacity;
    // The next page comes while this one is drawn.
    const next = last && isMore ? pageAfter(runId, last.seq) : null;
    into.append(page.events);
    if (!next) return;
    page = await next;
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
