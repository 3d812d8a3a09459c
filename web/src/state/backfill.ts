// Loads events of the current run that the page was not sent: those before it was opened, and those
// that a slow browser missed.
import { useEffect, useState, useSyncExternalStore } from "react";
import { create } from "zustand";
import { fetchHistory } from "../api/http";
import type { EventView } from "../api/types";
import { errorMessage } from "../values/format";
import { type EventRing, type Gap, ring } from "./events";

// The backend's page size.
const PAGE = 5000;
// The recorder writes with a short delay; after this many waits an event is not recorded.
const WAIT_MS = 500;
const MOST_WAITS = 8;

type Fetch = typeof fetchHistory;
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, WAIT_MS));

/** Loads events before the oldest one of a ring, page by page, until it is full. */
export async function backfillFront(
  into: EventRing,
  runId: string,
  isGone: () => boolean,
  fetch: Fetch = fetchHistory,
): Promise<void> {
  let before = into.items[0]?.seq ?? 1;
  let held: EventView[] = [];
  let waits = 0;
  while (before > 1 && into.items.length + held.length < into.capacity) {
    const query = { run: runId, before: String(before), newest_first: "1", limit: String(PAGE) };
    const { events, has_more } = await fetch(query);
    if (isGone()) return;
    if (events[0]?.seq !== before - 1 && waits < MOST_WAITS) {
      waits += 1;
      await pause();
      continue;
    }
    held = held.concat(events);
    before = has_more ? (events.at(-1)?.seq ?? 1) : 1;
    // Merge in doubling batches: each merge recomputes the links of all events.
    if (held.length >= into.items.length) {
      into.merge(held);
      held = [];
    }
  }
  if (held.length) into.merge(held);
}

/** Fill a gap from the recording; events that are not recorded stay missing. */
export async function fillGap(
  into: EventRing,
  runId: string,
  gap: Gap,
  fetch: Fetch = fetchHistory,
  wait: () => Promise<void> = pause,
): Promise<void> {
  const held: EventView[] = [];
  let after = gap.first_seq - 1;
  let waits = 0;
  while (after < gap.last_seq && held.length < into.capacity) {
    const before = String(gap.last_seq + 1);
    const query = { run: runId, after: String(after), before, limit: String(PAGE) };
    const { events, has_more } = await fetch(query);
    held.push(...events);
    after = events.at(-1)?.seq ?? after;
    if (has_more || after >= gap.last_seq) continue;
    if (waits === MOST_WAITS) break;
    waits += 1;
    await wait();
  }
  // The events of another run may have taken their place meanwhile.
  if (!into.gaps.some((one) => one.first_seq === gap.first_seq)) return;
  into.merge(held);
  into.close(gap);
}

const useFilling = create<{ isBusy: boolean }>(() => ({ isBusy: false }));

/** Fill all gaps; several viewers share one load. */
async function fillGaps(into: EventRing, runId: string): Promise<void> {
  if (useFilling.getState().isBusy) return;
  useFilling.setState({ isBusy: true });
  try {
    for (const gap of into.gaps) await fillGap(into, runId, gap);
  } finally {
    useFilling.setState({ isBusy: false });
  }
}

// While a server floods the page, filling would slow it down more.
const CALM_MS = 1000;

/** The gaps of a ring, and filling them: by itself as soon as no event came for a while, or now. */
export function useGaps(into: EventRing, runId: string) {
  const gaps = useSyncExternalStore(into.subscribe, () => into.gaps);
  const { isBusy } = useFilling();
  const [failed, setFailed] = useState<Gap[] | null>(null);
  const isWanted = gaps.length > 0 && !isBusy && failed !== gaps;
  useEffect(() => {
    if (!isWanted) return;
    const fill = (): void => void fillGaps(into, runId).catch(() => setFailed(into.gaps));
    let timer = setTimeout(fill, CALM_MS);
    const stop = into.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(fill, CALM_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [into, runId, isWanted]);
  return { gaps, isBusy, fill: () => fillGaps(into, runId) };
}

export interface BackfillState {
  isLoading: boolean;
  problem: string | null;
}

const NONE: BackfillState = { isLoading: false, problem: null };
const useReading = create<BackfillState>(() => NONE);

let reading: { runId: string; viewers: number } | null = null;

/** Loads while any viewer is mounted; several viewers share one load. */
export function startBackfill(
  runId: string,
  fill: typeof backfillFront = backfillFront,
): () => void {
  if (reading?.runId !== runId) {
    const begun = { runId, viewers: 0 };
    const isGone = (): boolean => reading !== begun;
    const tell = (state: BackfillState): void => {
      if (!isGone()) useReading.setState(state);
    };
    reading = begun;
    tell({ isLoading: true, problem: null });
    fill(ring, runId, isGone).then(
      () => tell(NONE),
      (thrown) => tell({ isLoading: false, problem: errorMessage(thrown) }),
    );
  }
  const mine = reading;
  mine.viewers += 1;
  return () => {
    mine.viewers -= 1;
    if (mine.viewers === 0 && reading === mine) reading = null;
  };
}

/** Whether older events exist and the ring has space for them. */
const isMissing = (): boolean => (ring.items[0]?.seq ?? 1) > 1 && ring.items.length < ring.capacity;

/** Loads older events of the current run while a component shows it. */
export function useBackfill(runId: string | null, isLive: boolean): BackfillState {
  const state = useReading();
  const isNeeded = useSyncExternalStore(ring.subscribe, isMissing) && isLive;
  useEffect(() => {
    if (isNeeded && runId !== null) return startBackfill(runId);
  }, [runId, isNeeded]);
  return isNeeded ? state : NONE;
}
