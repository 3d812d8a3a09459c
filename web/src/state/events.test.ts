import { describe, expect, it } from "vitest";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";
import { Filtered } from "./filtered";

const now = (run: () => void): void => run();

describe("EventRing", () => {
  it("joins an answer with its request, by direction and by the type of the id", () => {
    const ring = new EventRing(10, now);
    const request = anEvent({ seq: 1, method: "tools/call", request_id: 1, status: "request" });
    const theirs = anEvent({
      seq: 2,
      kind: "FrameReceived",
      method: "roots/list",
      request_id: 1,
      status: "request",
    });
    const other = anEvent({ seq: 3, kind: "FrameReceived", request_id: "1", status: "result" });
    const answer = anEvent({ seq: 5, kind: "FrameReceived", request_id: 1, status: "result" });
    const started = anEvent({ seq: 0, kind: "RequestStarted", method: "tools/call" });
    ring.append([started, request, theirs, other, answer]);
    expect(ring.joined(answer)).toMatchObject({ elapsed_s: 4, other_seq: 1 });
    expect(ring.joined(request).other_seq).toBe(5);
    expect(ring.joined(other).other_seq).toBeNull();
    expect(ring.joined(theirs).depth).toBe(1);
  });
  it("takes no event twice, and finds one by its number", () => {
    const ring = new EventRing(10, now);
    ring.append([anEvent({ seq: 1 }), anEvent({ seq: 2 })]);
    ring.append([anEvent({ seq: 2 }), anEvent({ seq: 4 })]);
    expect(ring.items.map((event) => event.seq)).toEqual([1, 2, 4]);
    expect(ring.find(4)?.seq).toBe(4);
    expect(ring.find(3)).toBeUndefined();
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
    const filtered = new Filtered(ring, (event) => event.seq % 2 === 0);
    ring.append([anEvent({ seq: 1 }), anEvent({ seq: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2]);
    ring.append([anEvent({ seq: 4 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2, 4]);
    ring.clear();
    expect(filtered.refresh()).toEqual([]);
    ring.append([anEvent({ seq: 6 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([6]);
    ring.restart();
    ring.append([anEvent({ seq: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2]);
  });
});
