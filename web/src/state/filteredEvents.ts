// An incrementally filtered view of the ring: only new events are tested. A new filter is applied
// in time slices, while the old rows stay.
import { useEffect, useMemo, useReducer, useRef } from "react";
import type { EventView } from "../api/types";
import { indexOfSeq } from "../values/seqIndex";
import { type EventRing, useRing, useRingVersion } from "./events";

// Half a frame, so that input stays responsive.
const SLICE_MS = 8;
// Events between two clock checks.
const STRIDE = 500;

export class FilteredEvents {
  rows: EventView[] = [];
  private seen = 0;
  private dropped = 0;
  private epoch = 0;

  constructor(
    private readonly source: EventRing,
    private readonly wanted: (event: EventView) => boolean,
    /** Whether the end of a request may make it match. */
    private readonly isByEnd = false,
  ) {
    this.dropped = source.dropped;
    this.seen = source.dropped;
    this.epoch = source.epoch;
  }

  /** Whether all events of the ring were tested. */
  get isDone(): boolean {
    const { items, dropped, epoch } = this.source;
    return epoch === this.epoch && dropped === this.dropped && this.seen === dropped + items.length;
  }

  /** Test new events until this time, and drop those that the ring dropped. */
  refresh(until = Number.POSITIVE_INFINITY): EventView[] {
    const { items, dropped, epoch } = this.source;
    let changed = false;
    if (epoch !== this.epoch) {
      this.rows = [];
      this.seen = dropped;
      changed = true;
    } else if (dropped !== this.dropped) {
      const first = items[0]?.seq ?? Number.POSITIVE_INFINITY;
      this.rows = this.rows.filter((row) => row.seq >= first);
      this.seen = Math.max(this.seen, dropped);
      changed = true;
    }
    this.dropped = dropped;
    this.epoch = epoch;
    const fresh: EventView[] = [];
    const late: EventView[] = [];
    let index = this.seen - dropped;
    for (; index < items.length; index += 1) {
      const event = items[index];
      if (event && this.wanted(event)) fresh.push(event);
      const ended = event && this.isByEnd && this.source.links.endedBy(event);
      if (ended && this.wanted(ended)) late.push(ended);
      if (index % STRIDE === 0 && performance.now() > until) {
        index += 1;
        break;
      }
    }
    this.seen = dropped + index;
    if (fresh.length && !changed) for (const event of fresh) this.rows.push(event);
    else if (fresh.length) this.rows = this.rows.concat(fresh);
    this.insert(late);
    return this.rows;
  }

  /** Insert missing events in order. */
  private insert(events: EventView[]): void {
    const lacking = events.filter((event) => indexOfSeq(this.rows, event.seq) < 0);
    if (lacking.length)
      this.rows = this.rows.concat(lacking).sort((one, other) => one.seq - other.seq);
  }
}

/** The rows that match `wanted`, which must be a stable function. */
export function useFilteredEvents(
  wanted: (event: EventView) => boolean,
  isByEnd = false,
): {
  rows: EventView[];
  version: number;
  isFiltering: boolean;
} {
  const ring = useRing();
  const { epoch } = ring;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came in among others is tested anew
  const next = useMemo(
    () => new FilteredEvents(ring, wanted, isByEnd),
    [ring, wanted, isByEnd, epoch],
  );
  const shown = useRef({ ring, rows: next.rows });
  const version = useRingVersion(ring);
  const [, goOn] = useReducer((count: number) => count + 1, 0);
  next.refresh(performance.now() + SLICE_MS);
  const isFiltering = !next.isDone;
  // For another ring the old rows are useless: show the partial new ones.
  if (!isFiltering || shown.current.ring !== ring) shown.current = { ring, rows: next.rows };
  useEffect(() => {
    if (!isFiltering) return;
    const timer = setTimeout(goOn);
    return () => clearTimeout(timer);
  });
  return { rows: shown.current.rows, version, isFiltering };
}
