import { describe, expect, it } from "vitest";
import type { EventView } from "../../api/types";
import { EventRing } from "../../state/events";
import { anEvent } from "../../testing/views";
import { seqRanges } from "./ExportMenu";
import { durationSoFar } from "./eventDuration";
import { describeTrafficFilter } from "./filterOptions";
import { importSummary } from "./ImportButton";
import {
  ALL_SERVERS,
  activeCount,
  NO_FILTER,
  type TrafficFilter,
  trafficMatcher,
} from "./trafficFilter";

const fits = (part: Partial<TrafficFilter>, event: Parameters<typeof anEvent>[0], now?: number) =>
  trafficMatcher({ ...NO_FILTER, ...part }, null, { now })(anEvent(event));

describe("a filter", () => {
  it("is by method, status and class of HTTP status", () => {
    const call = { seq: 1, method: "tools/call", status: "request" };
    expect(fits({ method: "tools/call" }, call)).toBe(true);
    expect(fits({ method: "tools/list" }, call)).toBe(false);
    expect(fits({ status: "request" }, call)).toBe(true);
    expect(fits({ status: "notification" }, call)).toBe(false);
    expect(fits({ hidden: ["ping", "tools/call"] }, call)).toBe(false);
    expect(fits({ hidden: ["ping"] }, call)).toBe(true);
    const refused = { seq: 2, kind: "HttpResponseReceived", status: 404 };
    expect(fits({ status: "4xx", layer: "http" }, refused)).toBe(true);
    expect(fits({ status: "5xx", layer: "http" }, refused)).toBe(false);
    expect(fits({ status: "errors", layer: "http" }, refused)).toBe(true);
    const failed = { seq: 3, status: "result", is_error: true };
    expect(fits({ status: "errors" }, failed)).toBe(true);
    expect(fits({ status: "errors" }, { ...failed, is_error: false })).toBe(false);
    expect(fits({ text: "tool error" }, failed)).toBe(true);
  });
  it("hides what mcplens does on its own, unless it is wanted or its method is named", () => {
    const ping = { seq: 1, method: "ping", purpose: "heartbeat" };
    expect(fits({}, ping)).toBe(false);
    expect(fits({ ours: true }, ping)).toBe(true);
    expect(fits({ method: "ping" }, ping)).toBe(true);
    expect(fits({}, { ...ping, purpose: null })).toBe(true);
    for (const purpose of ["call", "raw", "handshake"])
      expect(fits({}, { ...ping, purpose })).toBe(true);
  });
  it("hides what was made for a purpose, and nothing whose purpose is unknown", () => {
    const ping = { seq: 1, method: "ping", purpose: "heartbeat" };
    expect(fits({ hiddenPurposes: ["heartbeat"] }, ping)).toBe(false);
    expect(fits({ hiddenPurposes: ["catalog"], ours: true }, ping)).toBe(true);
    expect(fits({ hiddenPurposes: ["heartbeat"] }, { ...ping, purpose: "newer" })).toBe(true);
    expect(fits({ hiddenPurposes: ["heartbeat"] }, { ...ping, purpose: null })).toBe(true);
  });
  it("is by time: the last minutes, or from one minute to another", () => {
    const at = (wall: number) => ({ seq: 1, wall });
    expect(fits({ time: "1" }, at(941), 1_000)).toBe(true);
    expect(fits({ time: "1" }, at(939), 1_000)).toBe(false);
    expect(fits({ time: "5" }, at(939), 1_000)).toBe(true);
    const noon = new Date("2026-11-16T12:00").getTime() / 1000;
    const between = { time: "between", from: "2026-11-16T12:00", to: "2026-11-16T12:01" } as const;
    expect(fits(between, at(noon - 1))).toBe(false);
    expect(fits(between, at(noon + 119))).toBe(true);
    expect(fits(between, at(noon + 121))).toBe(false);
    expect(fits({ time: "between" }, at(5))).toBe(true);
  });
  it("is by how long a request took, or waits by now", () => {
    const ring = new EventRing(100, (run) => run());
    const asked = { kind: "FrameSent", status: "request", method: "tools/call" };
    const answer = { kind: "FrameReceived", status: "result" };
    ring.append([
      anEvent({ seq: 1, ...asked, mono: 0, wall: 100 }),
      anEvent({ seq: 2, ...asked, mono: 0, wall: 100 }),
      anEvent({ seq: 3, ...answer, request_seq: 2, mono: 0.2, wall: 100 }),
      anEvent({ seq: 4, kind: "HttpExchangeEnded", detail: { elapsed_s: 3 } }),
      anEvent({ seq: 5, ...asked, purpose: "listening", wall: 100 }),
      anEvent({ seq: 6, kind: "FrameReceived", status: "notification" }),
    ]);
    const slower = (ms: number, now: number) => {
      const filter: TrafficFilter = { ...NO_FILTER, layer: "everything", slower: ms };
      const aim = { now, lastedOf: (one: EventView, at: number) => durationSoFar(one, ring, at) };
      return ring.items.filter(trafficMatcher(filter, null, aim)).map((event) => event.seq);
    };
    expect(slower(100, 100)).toEqual([2, 3, 4]);
    expect(slower(200, 100)).toEqual([4]);
    expect(slower(200, 101)).toEqual([1, 4]);
    expect(slower(3_000, 101)).toEqual([]);
  });
  it("takes the text as it is, and hides what was cleared", () => {
    expect(fits({ text: "a.c" }, { seq: 1, head: "abc" })).toBe(false);
    expect(fits({ text: "A.C (" }, { seq: 1, head: "(xa.cx" })).toBe(true);
    const wanted = trafficMatcher(NO_FILTER, null, { after: 5 });
    expect([5, 6].map((seq) => wanted(anEvent({ seq })))).toEqual([false, true]);
  });
  it("counts the choices that are made", () => {
    expect(activeCount(NO_FILTER)).toBe(0);
    expect(activeCount({ ...NO_FILTER, hidden: ["ping"] })).toBe(1);
    expect(activeCount({ ...NO_FILTER, hiddenPurposes: ["heartbeat"] })).toBe(1);
    expect(activeCount({ ...NO_FILTER, text: "x", server: "*", time: "1" })).toBe(2);
    expect(activeCount({ ...NO_FILTER, slower: 0 })).toBe(1);
  });
});

describe("the rows that are exported", () => {
  it("are told by the first and last of those that follow one another", () => {
    const spans = (...seqs: number[]) => seqRanges(seqs.map((seq) => anEvent({ seq })));
    expect(spans()).toEqual([]);
    expect(spans(3)).toEqual([3, 3]);
    expect(spans(1, 2, 3, 5, 8, 9)).toEqual([1, 3, 5, 5, 8, 9]);
  });
});

describe("an import", () => {
  it("tells what was there already, and which lines were broken", () => {
    const done = { run_ids: ["r"], event_count: 1, known_count: 0, broken: [], broken_count: 0 };
    expect(importSummary(done)).toBe("1 event of 1 session added to the recording.");
    const broken = ["line 2: no JSON", "line 3: no JSON", "line 4: no JSON", "line 9: no JSON"];
    expect(importSummary({ ...done, known_count: 3, broken, broken_count: 4000 })).toBe(
      "1 event of 1 session added to the recording. 3 events were already present. 4,000 lines were malformed and skipped: line 2: no JSON; line 3: no JSON; line 4: no JSON; …",
    );
  });
});

describe("a filter in words", () => {
  const words = (part: Partial<TrafficFilter>, link: string | null = null) =>
    describeTrafficFilter({ ...NO_FILTER, ...part }, link);
  it("tells what it leaves out", () => {
    expect(words({})).toEqual([]);
    expect(words({ layer: "everything", server: ALL_SERVERS, text: " " })).toEqual([]);
    expect(words({ text: "x y ", layer: "http", direction: "in", status: "4xx" })).toEqual([
      "“x y”",
      "HTTP",
      "Received",
      "4xx, client error",
    ]);
    expect(words({ method: "ping", server: "far", time: "1" }, "call c7")).toEqual([
      "ping",
      "server far",
      "The last minute",
      "call c7",
    ]);
    expect(words({ hiddenPurposes: ["task_polling"] })).toEqual(["not for task polling"]);
    expect(words({ slower: 1_500 })).toEqual(["slower than 1,500 ms"]);
    expect(words({ time: "between", from: "2026-11-16T04:30" })).toEqual([
      "from 2026-11-16 04:30:00",
    ]);
  });
});
