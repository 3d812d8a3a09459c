// A filtered list that follows the ring: only events that are new since the last look are tested.
import { useMemo } from "react";
import type { EventView } from "../api/types";
import { type EventRing, useRing, useRingVersion } from "./events";

export class Filtered {
  rows: EventView[] = [];
  private seen = 0;
  private dropped = 0;

  constructor(
    private readonly source: EventRing,
    private readonly wanted: (event: EventView) => boolean,
  ) {
    this.dropped = source.dropped;
  }

  /** Take in what came, and let go of what the ring let go of. */
  refresh(): EventView[] {
    const { items, dropped } = this.source;
    if (dropped < this.dropped) {
      this.rows = [];
      this.seen = dropped;
    }
    let changed = false;
    if (dropped !== this.dropped) {
      const first = items[0]?.seq ?? Number.POSITIVE_INFINITY;
      this.rows = this.rows.filter((row) => row.seq >= first);
      this.dropped = dropped;
      this.seen = Math.max(this.seen, dropped);
      changed = true;
    }
    const fresh: EventView[] = [];
    for (let index = this.seen - dropped; index < items.length; index += 1) {
      const event = items[index];
      if (event && this.wanted(event)) fresh.push(event);
    }
    this.seen = dropped + items.length;
    if (fresh.length && !changed) for (const event of fresh) this.rows.push(event);
    else if (fresh.length) this.rows = this.rows.concat(fresh);
    return this.rows;
  }
}

/** The rows that `wanted` lets through; give it a stable function. */
export function useFiltered(wanted: (event: EventView) => boolean): {
  rows: EventView[];
  version: number;
} {
  const ring = useRing();
  const filtered = useMemo(() => new Filtered(ring, wanted), [ring, wanted]);
  const version = useRingVersion(ring);
  return { rows: filtered.refresh(), version };
}
