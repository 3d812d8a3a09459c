// The newest events, outside React: a bounded list with a version that ticks at most once a
// frame. Its links are indexed as they come in.
import { createContext, useContext, useSyncExternalStore } from "react";
import type { EventView } from "../api/types";
import { indexOfSeq } from "../values/seqIndex";
import { EventLinks } from "./eventLinks";

// 100,000 messages, each of which brings another event (a log line, a request's start or end): 80 MB
// as servers usually talk; older ones are in the recording.
export const CAPACITY = 200_000;
// Cut in pieces of this size, so that a full list is not moved for every event.
const SLACK = 5_000;

/** Events from the first to the last, both included. */
export interface Gap {
  first_seq: number;
  last_seq: number;
}

export class EventRing {
  items: EventView[] = [];
  /** How many events were cut off at the front since the start. */
  dropped = 0;
  version = 0;
  /** Ticks when events came in among others: what was made of them is to be made anew. */
  epoch = 0;
  /** What was not sent to this page, oldest first; it may be in the recording. */
  gaps: Gap[] = [];
  private last: number | null = null;
  readonly links = new EventLinks((seq) => this.find(seq));
  private readonly listeners = new Set<() => void>();
  private isScheduled = false;

  constructor(
    readonly capacity = CAPACITY,
    private readonly schedule: (run: () => void) => void = (run) => requestAnimationFrame(run),
  ) {}

  /** The newest event that came, also after a clear: the stream goes on from there. */
  get lastSeq(): number | null {
    return this.last;
  }

  append(events: EventView[]): void {
    const last = this.last ?? -1;
    for (const event of events) {
      if (event.seq <= last) continue;
      this.items.push(event);
      this.links.add(event);
    }
    this.last = this.items.at(-1)?.seq ?? this.last;
    if (this.items.length > this.capacity + SLACK) this.cut(this.items.length - this.capacity);
    this.tick();
  }

  /** Take in events that are older than the newest ones: those at the front are cut if it is full. */
  merge(events: EventView[]): void {
    const known = new Set(events.map((event) => event.seq));
    const all = events.concat(this.items.filter((event) => !known.has(event.seq)));
    all.sort((one, other) => one.seq - other.seq);
    this.items = all.length > this.capacity + SLACK ? all.slice(-this.capacity) : all;
    this.last = Math.max(this.last ?? -1, this.items.at(-1)?.seq ?? -1);
    this.epoch += 1;
    this.links.clear();
    for (const event of this.items) this.links.add(event);
    this.tick();
  }

  /** These were not sent to this page. */
  miss(gap: Gap): void {
    const before = this.gaps.at(-1);
    if (before && before.last_seq + 1 === gap.first_seq)
      this.gaps = [...this.gaps.slice(0, -1), { ...before, last_seq: gap.last_seq }];
    else this.gaps = [...this.gaps, gap];
    this.last = Math.max(this.last ?? -1, gap.last_seq);
    this.tick();
  }

  /** A gap was filled, or cannot be; what was added to it since stays missing. */
  close(gap: Gap): void {
    this.gaps = this.gaps.flatMap((one) => {
      if (one.first_seq !== gap.first_seq) return [one];
      return one.last_seq > gap.last_seq ? [{ ...one, first_seq: gap.last_seq + 1 }] : [];
    });
    this.tick();
  }

  /** Forget everything: the events of another run follow. */
  restart(): void {
    this.items = [];
    this.gaps = [];
    this.last = null;
    this.dropped = 0;
    this.epoch += 1;
    this.links.clear();
    this.tick();
  }

  find(seq: number): EventView | undefined {
    return this.items[indexOfSeq(this.items, seq)];
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getVersion = (): number => this.version;

  private cut(count: number): void {
    this.items = this.items.slice(count);
    this.dropped += count;
    this.links.dropBefore(this.items[0]?.seq ?? 0);
  }

  private tick(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.schedule(() => {
      this.isScheduled = false;
      this.version += 1;
      for (const listener of this.listeners) listener();
    });
  }
}

/** What happens now. */
export const ring = new EventRing();

/** The events that a screen shows: those of now, or those of an earlier run. */
const RingContext = createContext(ring);
export const RingProvider = RingContext.Provider;
export const useRing = (): EventRing => useContext(RingContext);

/** Redraws at most once a frame, when events came. */
export const useRingVersion = (of: EventRing): number =>
  useSyncExternalStore(of.subscribe, of.getVersion);
