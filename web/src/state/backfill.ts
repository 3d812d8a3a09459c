// Loads events of the current run that the page was not sent: those before it was opened, and those
// that a slow browser missed.
import { useEffect, useSyncExternalStore } from "react";
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
): Promise<void> {
  const held: EventView[] = [];
  let after = gap.first_seq - 1;
  while (after < gap.last_seq && held.length < into.capacity) {
    const before = String(gap.last_seq + 1);
    const query = { run: runId, after: String(after), before, limit: String(PAGE) };
    const { events } = await fetch(query);
    if (!events.length) break;
    held.push(...events);
    after = events.at(-1)?.seq ?? gap.last_seq;
  }
  into.merge(held);
  into.close(gap);
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
