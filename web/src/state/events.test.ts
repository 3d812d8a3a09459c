import { describe, expect, it } from "vitest";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";
import { FilteredEvents } from "./filteredEvents";

const now = (run: () => void): void => run();

describe("EventRing", () => {
  it("takes no event twice, and finds one by its number", () => {
    const ring = new EventRing(10, now);
    ring.append([anEvent({ seq: 1 }), anEvent({ seq: 2 })]);
    ring.append([anEvent({ seq: 2 }), anEvent({ seq: 4 })]);
    expect(ring.items.map((event) => event.seq)).toEqual([1, 2, 4]);
    expect(ring.find(4)?.seq).toBe(4);
    expect(ring.find(3)).toBeUndefined();
  });
  it("goes on after what it was not sent, and knows what that was", () => {
    const ring = new EventRing(10, now);
    ring.append([anEvent({ seq: 1 })]);
    ring.miss({ first_seq: 2, last_seq: 4 });
    ring.miss({ first_seq: 5, last_seq: 6 });
    expect(ring.gaps).toEqual([{ first_seq: 2, last_seq: 6 }]);
    expect(ring.lastSeq).toBe(6);
    ring.close({ first_seq: 2, last_seq: 6 });
    expect(ring.gaps).toEqual([]);
  });
  it("stays bounded, and tells listeners once for many events", () => {
    const waiting: (() => void)[] = [];
    const ring = new EventRing(100, (run) => waiting.push(run));
    let told = 0;
    ring.subscribe(() => {
      told += 1;
    });
    for (let seq = 1; seq <= 20_000; seq += 1) ring.append([anEvent({ seq })]);
    for (const run of waiting) run();
    expect(ring.items.length).toBeLessThanOrEqual(5100);
    expect(ring.lastSeq).toBe(20_000);
    expect(told).toBe(1);
  });
});

describe("Filtered", () => {
  it("follows the ring as it grows, is cut and starts again", () => {
    const ring = new EventRing(100, now);
    const filtered = new FilteredEvents(ring, (event) => event.seq % 2 === 0);
    ring.append([anEvent({ seq: 1 }), anEvent({ seq: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2]);
    ring.append([anEvent({ seq: 4 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2, 4]);
    ring.restart();
    ring.append([anEvent({ seq: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2]);
    for (let seq = 3; seq <= 5_300; seq += 1) ring.append([anEvent({ seq })]);
    expect(filtered.refresh()[0]?.seq).toBe((ring.items[0]?.seq ?? 0) + 1);
    expect(filtered.refresh().at(-1)?.seq).toBe(5_300);
  });
  it("takes in a request that its end makes wanted, in its place", () => {
    const ring = new EventRing(100, now);
    const filtered = new FilteredEvents(
      ring,
      (event) => ring.links.elapsedOf(event) !== null,
      true,
    );
    const sent = { kind: "FrameSent", status: "request" };
    const came = { kind: "FrameReceived", status: "result" };
    ring.append([1, 2, 3].map((seq) => anEvent({ seq, ...sent })));
    expect(filtered.refresh()).toEqual([]);
    ring.append([anEvent({ seq: 4, ...came, request_seq: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2, 4]);
    const detail = { elapsed_s: 9, error: { code: "REQUEST_TIMEOUT" } };
    ring.append([anEvent({ seq: 5, kind: "RequestEnded", request_seq: 1, detail })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([1, 2, 4]);
    ring.append([anEvent({ seq: 6, ...sent })]);
    ring.append([anEvent({ seq: 7, ...came, request_seq: 6 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([1, 2, 4, 6, 7]);
  });
  it("takes in what is merged at the front, and can stop half way", () => {
    const ring = new EventRing(10_000, now);
    const filtered = new FilteredEvents(ring, (event) => event.seq % 2 === 0);
    ring.append([anEvent({ seq: 5 }), anEvent({ seq: 6 })]);
    filtered.refresh();
    ring.merge([1, 2, 3, 4].map((seq) => anEvent({ seq })));
    expect(filtered.isDone).toBe(false);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2, 4, 6]);
    ring.merge(Array.from({ length: 2_000 }, (_, at) => anEvent({ seq: at + 7 })));
    filtered.refresh(0);
    expect(filtered.isDone).toBe(false);
    while (!filtered.isDone) filtered.refresh(0);
    expect(filtered.rows).toHaveLength(1_003);
  });
});
