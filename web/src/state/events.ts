// The newest events, outside React: a bounded list with a version that ticks at most once a
// frame. Each event is joined with the request that it answers when it comes in.
import { createContext, useContext, useSyncExternalStore } from "react";
import type { EventView } from "../api/types";
import { Causes } from "./causes";
import { type Owner, Owners } from "./owners";

// 100,000 messages, each of which brings another event (a log line, a request's start or end): 80 MB
// as servers usually talk; older ones are in the recording.
export const CAPACITY = 200_000;
// Cut in pieces of this size, so that a full list is not moved for every event.
const SLACK = 5_000;

/** What is known of a row beside its event. */
export interface Joined {
  elapsed_s: number | null;
  /** The answer of a request, the request of an answer. */
  other_seq: number | null;
  /** 1 for what the server sent of its own while a request of ours was open, else 0. */
  depth: number;
  /** How a request of ours ended that was given up before an answer came. */
  ended?: string;
}

/** Events from the first to the last, both included. */
export interface Gap {
  first_seq: number;
  last_seq: number;
}

const NOTHING: Joined = { elapsed_s: null, other_seq: null, depth: 0 };
const NESTED: Joined = { ...NOTHING, depth: 1 };

/** In words, how a request ended that has no answer. */
function endOf({ status, detail }: EventView): string | undefined {
  if (status === "completed") return undefined;
  if (status === "cancelled") return "cancelled";
  const { code } = (detail.error ?? {}) as { code?: unknown };
  return code === "REQUEST_TIMEOUT" ? "timed out" : "no answer";
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
  private readonly causes = new Causes();
  private readonly owners = new Owners();
  private joins = new WeakMap<EventView, Joined>();
  private open = new Map<string, EventView>();
  private waiting = new Map<string, number>();
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
      this.join(event);
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
    this.items = all.slice(Math.max(0, all.length - this.capacity));
    this.last = Math.max(this.last ?? -1, this.items.at(-1)?.seq ?? -1);
    this.epoch += 1;
    this.forget();
    for (const event of this.items) this.join(event);
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

  /** A gap was filled, or cannot be. */
  close(gap: Gap): void {
    this.gaps = this.gaps.filter((one) => one.first_seq !== gap.first_seq);
    this.tick();
  }

  /** Forget everything: the events of another run follow. */
  restart(): void {
    this.items = [];
    this.gaps = [];
    this.last = null;
    this.dropped = 0;
    this.epoch += 1;
    this.forget();
    this.tick();
  }

  joined(event: EventView): Joined {
    return this.joins.get(event) ?? NOTHING;
  }

  /** The request that an event belongs beneath, as long as it is kept. */
  parentOf = (event: EventView): EventView | undefined => {
    const parent = this.causes.parentOf(event);
    return parent && parent.seq >= (this.items[0]?.seq ?? 0) ? parent : undefined;
  };

  /** The request that a log line belongs to, as far as that is known. */
  ownerOf = (event: EventView): Owner | undefined => this.owners.of(event);

  /** The request, or the question, that an event is the end of. */
  endedBy(event: EventView): EventView | undefined {
    const { other_seq } = this.joined(event);
    return other_seq !== null && other_seq < event.seq ? this.find(other_seq) : undefined;
  }

  find(seq: number): EventView | undefined {
    let low = 0;
    let high = this.items.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const event = this.items[middle];
      if (!event) return undefined;
      if (event.seq === seq) return event;
      if (event.seq < seq) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getVersion = (): number => this.version;

  private forget(): void {
    this.open.clear();
    this.causes.clear();
    this.owners.clear();
    this.waiting.clear();
  }

  private join(event: EventView): void {
    this.count(event);
    this.causes.take(event);
    this.owners.take(event);
    if (event.kind === "RequestEnded") this.end(event);
    if (event.kind === "QuestionOpened" || event.kind === "QuestionClosed") this.pair(event);
    if (event.kind !== "FrameSent" && event.kind !== "FrameReceived") return;
    const isSent = event.kind === "FrameSent";
    // A request and its answer go in opposite directions; the ids 1 and "1" are two.
    const key = (asked: boolean) =>
      `${event.server_id} ${asked} ${typeof event.request_id} ${event.request_id}`;
    const depth = this.waiting.get(event.server_id) ? 1 : 0;
    if (event.status === "request") {
      this.open.set(key(isSent), event);
      if (!isSent) this.joins.set(event, { ...NOTHING, depth });
      return;
    }
    if (event.status === "notification" && depth) this.joins.set(event, NESTED);
    if (event.status !== "result" && event.status !== "error") return;
    const request = this.open.get(key(!isSent));
    if (!request) return;
    this.open.delete(key(!isSent));
    const elapsed_s = event.mono - request.mono;
    const { depth: nested } = this.joined(request);
    this.joins.set(event, { elapsed_s, other_seq: request.seq, depth: nested });
    this.joins.set(request, { ...this.joined(request), elapsed_s, other_seq: event.seq });
  }

  /** A request that is over without an answer lasted until then. */
  private end(event: EventView): void {
    const { server_id, request_id, detail } = event;
    const request = this.open.get(`${server_id} true ${typeof request_id} ${request_id}`);
    if (!request || typeof detail.elapsed_s !== "number") return;
    const ended = endOf(event);
    this.joins.set(event, { ...NOTHING, other_seq: request.seq });
    this.joins.set(request, { ...this.joined(request), elapsed_s: detail.elapsed_s, ended });
  }

  /** A question that came without a message of its own, and its end. */
  private pair(event: EventView): void {
    // Each server counts its questions for itself.
    const key = `question ${event.server_id} ${event.detail.question_id}`;
    const opened = this.open.get(key);
    if (event.kind === "QuestionOpened") {
      this.open.set(key, event);
    } else if (opened) {
      this.open.delete(key);
      const elapsed_s = event.mono - opened.mono;
      this.joins.set(event, { elapsed_s, other_seq: opened.seq, depth: 0 });
      this.joins.set(opened, { elapsed_s, other_seq: event.seq, depth: 0 });
    }
  }

  /** How many requests of ours are open; a stream that stays open for good is none of them. */
  private count({ kind, method, server_id }: EventView): void {
    const open = this.waiting.get(server_id) ?? 0;
    if (kind === "StateChanged") this.waiting.set(server_id, 0);
    if (method === "subscriptions/listen") return;
    if (kind === "RequestStarted") this.waiting.set(server_id, open + 1);
    if (kind === "RequestEnded") this.waiting.set(server_id, Math.max(0, open - 1));
  }

  private cut(count: number): void {
    this.items = this.items.slice(count);
    this.dropped += count;
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
