import { describe, expect, it } from "vitest";
import type { EventView } from "../api/types";
import { anEvent } from "../testing/views";
import { EventRing } from "./events";

let seq = 0;
const event = (kind: string, part: Partial<EventView> = {}): EventView =>
  anEvent({ seq: ++seq, kind, ...part });
const started = (id: number, method = "tools/call") =>
  event("RequestStarted", { request_id: id, method });
const ended = (id: number) => event("RequestEnded", { request_id: id, method: "tools/call" });
const log = () => event("LogReceived", { detail: { level: "info", data: "x" } });
const message = (channel?: number) =>
  event("FrameReceived", { method: "notifications/message", detail: channel ? { channel } : {} });

function ownersAfter(...events: EventView[]) {
  const ring = new EventRing(100, (run) => run());
  ring.append(events);
  return events
    .filter((one) => one.kind === "LogReceived" || one.kind === "StderrLine")
    .map((one) => ring.ownerOf(one));
}

describe("the request of a log line", () => {
  it("is the one whose stream brought it, however many are open", () => {
    const found = ownersAfter(started(1), started(2), message(2), log());
    expect(found).toEqual([{ id: 2, isTold: true }]);
  });
  it("is the only one that is open, for stderr too; pings do not count", () => {
    const found = ownersAfter(
      started(7),
      started(8, "ping"),
      message(),
      log(),
      event("StderrLine"),
    );
    expect(found).toEqual([
      { id: 7, isTold: false },
      { id: 7, isTold: false },
    ]);
  });
  it("is unknown while none or several are open, and after a connection ended", () => {
    const found = ownersAfter(
      log(),
      started(1),
      started(2),
      log(),
      ended(1),
      event("StateChanged"),
      log(),
    );
    expect(found).toEqual([undefined, undefined, undefined]);
  });
});
