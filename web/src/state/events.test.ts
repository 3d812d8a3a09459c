import { describe, expect, it } from "vitest";
import type { EventView } from "../api/types";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";
import { FilteredEvents } from "./filteredEvents";

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
  it("knows how a request ended that has no answer, also when a late one comes", () => {
    const ring = new EventRing(20, now);
    const sent = (seq: number) => anEvent({ seq, request_id: seq, status: "request" });
    const ended = (seq: number, request_id: number, status: string, code?: string) => {
      const detail = { elapsed_s: 1, ...(code && { error: { code } }) };
      return anEvent({ seq, kind: "RequestEnded", request_id, status, detail });
    };
    const answer = (seq: number, request_id: number) =>
      anEvent({ seq, kind: "FrameReceived", request_id, status: "result" });
    const requests = [1, 2, 3, 4].map(sent);
    ring.append([
      ...requests,
      ended(5, 1, "error", "REQUEST_TIMEOUT"),
      ended(6, 2, "cancelled"),
      ended(7, 3, "error", "CONNECTION_LOST"),
      answer(8, 4),
      ended(9, 4, "error", "RPC_ERROR"),
      answer(10, 1),
    ]);
    expect(requests.map((request) => ring.joined(request).ended)).toEqual([
      "timed out",
      "cancelled",
      "no answer",
      undefined,
    ]);
  });
  it("takes no event twice, and finds one by its number", () => {
    const ring = new EventRing(10, now);
    ring.append([anEvent({ seq: 1 }), anEvent({ seq: 2 })]);
    ring.append([anEvent({ seq: 2 }), anEvent({ seq: 4 })]);
    expect(ring.items.map((event) => event.seq)).toEqual([1, 2, 4]);
    expect(ring.find(4)?.seq).toBe(4);
    expect(ring.find(3)).toBeUndefined();
  });
  it("joins what is merged in front with what was there, and stays within its bound", () => {
    const ring = new EventRing(3, now);
    const received = { kind: "FrameReceived", status: "result", request_id: 1 };
    ring.append([anEvent({ seq: 8, ...received }), anEvent({ seq: 9 })]);
    expect(ring.joined(ring.items[0] as EventView).other_seq).toBeNull();
    const asked = anEvent({ seq: 6, status: "request", request_id: 1 });
    ring.merge([anEvent({ seq: 5 }), asked, anEvent({ seq: 9 })]);
    expect(ring.items.map((event) => event.seq)).toEqual([6, 8, 9]);
    expect(ring.joined(asked)).toMatchObject({ other_seq: 8, elapsed_s: 2 });
    expect(ring.parentOf(ring.items[1] as EventView)).toBe(asked);
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
  it("pairs questions with their ends server by server", () => {
    const ring = new EventRing(10, now);
    const detail = { question_id: "q1" };
    const opened = ["a", "b"].map((server_id, at) =>
      anEvent({ seq: at + 1, kind: "QuestionOpened", server_id, detail }),
    );
    const closed = anEvent({ seq: 5, kind: "QuestionClosed", server_id: "a", detail });
    ring.append([...opened, closed]);
    expect(ring.joined(closed)).toMatchObject({ other_seq: 1, elapsed_s: 4 });
    expect(ring.joined(opened[1] as EventView).elapsed_s).toBeNull();
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
      (event) => ring.joined(event).elapsed_s !== null,
      true,
    );
    const sent = { kind: "FrameSent", status: "request" };
    const came = { kind: "FrameReceived", status: "result" };
    ring.append([1, 2, 3].map((seq) => anEvent({ seq, ...sent, request_id: seq })));
    expect(filtered.refresh()).toEqual([]);
    ring.append([anEvent({ seq: 4, ...came, request_id: 2 })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([2, 4]);
    const detail = { elapsed_s: 9, error: { code: "REQUEST_TIMEOUT" } };
    ring.append([anEvent({ seq: 5, kind: "RequestEnded", request_id: 1, detail })]);
    expect(filtered.refresh().map((event) => event.seq)).toEqual([1, 2, 4]);
    ring.append([anEvent({ seq: 6, ...sent, request_id: 6 })]);
    ring.append([anEvent({ seq: 7, ...came, request_id: 6 })]);
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
