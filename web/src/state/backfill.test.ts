import { describe, expect, it } from "vitest";
import type { fetchHistory } from "../api/http";
import { anEvent } from "../testing/views";
import { backfillFront, fillGap, startBackfill } from "./backfill";
import { EventRing } from "./events";

const now = (run: () => void): void => run();

/** A recording of the events 1 to `last`, in pages. */
function recording(last: number, page: number, asked: Record<string, string>[] = []) {
  return async (query: Record<string, string>) => {
    asked.push(query);
    const from = Number(query.after ?? 0) + 1;
    const to = Math.min(last, Number(query.before ?? last + 1) - 1);
    const all = Array.from({ length: Math.max(0, to - from + 1) }, (_, at) =>
      anEvent({ seq: from + at }),
    );
    if (query.newest_first) all.reverse();
    return { events: all.slice(0, page), has_more: all.length > page };
  };
}

const seqs = (ring: EventRing): number[] => ring.items.map((event) => event.seq);

describe("what happened before a page was opened", () => {
  it("is read back to the beginning, page by page", async () => {
    const ring = new EventRing(100, now);
    ring.append([anEvent({ seq: 8 }), anEvent({ seq: 9 })]);
    const asked: Record<string, string>[] = [];
    await backfillFront(ring, "run", () => false, recording(9, 3, asked));
    expect(seqs(ring)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(asked.map((query) => query.before)).toEqual(["8", "5", "2"]);
  });
  it("stops where the ring is full, and where nobody looks any more", async () => {
    const ring = new EventRing(4, now);
    ring.append([anEvent({ seq: 9 })]);
    await backfillFront(ring, "run", () => false, recording(9, 2));
    // Some more than it is to hold are let in, with the page that they came in.
    expect(seqs(ring)).toEqual([5, 6, 7, 8, 9]);
    const other = new EventRing(100, now);
    other.append([anEvent({ seq: 9 })]);
    await backfillFront(other, "run", () => true, recording(9, 2));
    expect(seqs(other)).toEqual([9]);
  });
});

describe("screens that look at the same time", () => {
  it("read what is older once, until the last of them is gone", async () => {
    const begun: string[] = [];
    const gone: (() => boolean)[] = [];
    const fill = async (_: EventRing, runId: string, isGone: () => boolean): Promise<void> => {
      begun.push(runId);
      gone.push(isGone);
    };
    const first = startBackfill("run", fill);
    const second = startBackfill("run", fill);
    expect(begun).toEqual(["run"]);
    first();
    expect(gone[0]?.()).toBe(false);
    second();
    expect(gone[0]?.()).toBe(true);
    const third = startBackfill("run", fill);
    const other = startBackfill("other", fill);
    expect(begun).toEqual(["run", "run", "other"]);
    expect(gone.map((isGone) => isGone())).toEqual([true, true, false]);
    third();
    expect(gone[2]?.()).toBe(false);
    other();
  });
});

describe("what a page was not sent", () => {
  it("is filled in where it belongs", async () => {
    const ring = new EventRing(100, now);
    ring.append([anEvent({ seq: 1 })]);
    const gap = { first_seq: 2, last_seq: 6 };
    ring.miss(gap);
    ring.append([anEvent({ seq: 7 })]);
    await fillGap(ring, "run", gap, recording(20, 2));
    expect(seqs(ring)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(ring.gaps).toEqual([]);
  });
  it("is waited for if the recorder is late, and is given up if it is not recorded", async () => {
    const ring = new EventRing(100, now);
    const gap = { first_seq: 1, last_seq: 6 };
    ring.miss(gap);
    let written = 4;
    const late: typeof fetchHistory = (query) => recording(written, 9)(query as never);
    await fillGap(ring, "run", gap, late, async () => {
      written = 6;
    });
    expect(seqs(ring)).toEqual([1, 2, 3, 4, 5, 6]);
    const other = { first_seq: 7, last_seq: 8 };
    ring.miss(other);
    let waits = 0;
    await fillGap(ring, "run", other, late, async () => {
      waits += 1;
    });
    expect(waits).toBe(8);
    expect(ring.gaps).toEqual([]);
  });
  it("is not put among the events of another run, and keeps what it grew by", async () => {
    const ring = new EventRing(100, now);
    const gap = { first_seq: 1, last_seq: 2 };
    ring.miss(gap);
    ring.miss({ first_seq: 3, last_seq: 4 });
    await fillGap(ring, "run", gap, recording(20, 9));
    expect(ring.gaps).toEqual([{ first_seq: 3, last_seq: 4 }]);
    ring.restart();
    await fillGap(ring, "run", gap, recording(20, 9));
    expect(seqs(ring)).toEqual([]);
  });
});
