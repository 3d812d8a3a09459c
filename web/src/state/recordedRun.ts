// Loads the events of a recorded run, page by page, into a ring of their own; one that another
// process still records is followed: the backend says when there is more.
import { useEffect, useState } from "react";
import { fetchHistory } from "../api/http";
import { errorMessage } from "../values/format";
import { CAPACITY, EventRing, ring } from "./events";
import { useInspector } from "./store";

// The backend's page size: parsed within a frame, with few round trips.
const PAGE = 5000;

export interface RecordedRun {
  ring: EventRing;
  isLoading: boolean;
  problem: string | null;
  /** The run is longer than the ring. */
  isCut: boolean;
}

const LIVE: RecordedRun = { ring, isLoading: false, problem: null, isCut: false };

const pageAfter = (runId: string, seq: number) =>
  fetchHistory({ run: runId, after: String(seq), limit: String(PAGE) });

/** Adds what comes after the last event of the ring; returns whether the run did not fit. */
async function fill(into: EventRing, runId: string, isGone: () => boolean): Promise<boolean> {
  let page = await pageAfter(runId, into.lastSeq ?? 0);
  while (!isGone()) {
    const last = page.events.at(-1);
    const isMore = page.has_more && into.items.length + page.events.length < into.capacity;
    // Prefetch the next page while this one renders.
    const next = last && isMore ? pageAfter(runId, last.seq) : null;
    into.append(page.events);
    if (!next) return page.has_more;
    page = await next;
  }
  return false;
}

/** The events of a recorded run, or the live ring if none is named. Retried after a reconnect. */
export function useRecordedRun(runId: string | null, capacity = CAPACITY): RecordedRun {
  const [state, setState] = useState<RecordedRun>(LIVE);
  const [attempt, setAttempt] = useState(0);
  const isOpen = useInspector(({ link }) => link.state === "open");
  const isFailed = state.problem !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only once it is open again
  useEffect(() => {
    if (isOpen && isFailed) setAttempt(attempt + 1);
  }, [isOpen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies(attempt): it asks for the same again
  useEffect(() => {
    if (runId === null) return setState(LIVE);
    let isGone = false;
    const own: RecordedRun = {
      ring: new EventRing(capacity),
      isLoading: false,
      problem: null,
      isCut: false,
    };
    setState({ ...own, isLoading: true });
    fill(own.ring, runId, () => isGone).then(
      (isCut) => !isGone && setState({ ...own, isCut }),
      (thrown) => !isGone && setState({ ...own, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [runId, capacity, attempt]);
  useFollowed(runId, state);
  return state;
}

/** Loads what another process has recorded since, whenever the backend says that there is more. */
function useFollowed(runId: string | null, { ring: own, isLoading, problem, isCut }: RecordedRun) {
  const isReady = own !== ring && !isLoading && problem === null && !isCut;
  useEffect(() => {
    if (!isReady || runId === null) return;
    let isGone = false;
    let isFilling = false;
    const isMore = (): boolean => {
      const known = useInspector.getState().runs.get(runId);
      return (known?.run.last_seq ?? 0) > (own.lastSeq ?? 0);
    };
    const follow = async (): Promise<void> => {
      if (isFilling || !isMore()) return;
      isFilling = true;
      try {
        while (!isGone && isMore()) {
          const before = own.lastSeq;
          await fill(own, runId, () => isGone);
          if (own.lastSeq === before) break;
        }
      } catch {
        // The next change asks again; until then the rows are as they were.
      } finally {
        isFilling = false;
      }
    };
    void follow();
    const stop = useInspector.subscribe(() => void follow());
    return () => {
      isGone = true;
      stop();
    };
  }, [isReady, runId, own]);
}
