import { describe, expect, it } from "vitest";
import { anEvent } from "../../testing/views";
import { eventLabel as words } from "./eventLabel";
import { eventTitle, previewOf, targetOf } from "./messagePreview";

const request = (method: string, params?: unknown) =>
  anEvent({
    seq: 1,
    method,
    status: "request",
    head: JSON.stringify({ jsonrpc: "2.0", id: 14, method, params }),
  });

describe("a row", () => {
  it("says what is called", () => {
    expect(eventTitle(request("tools/call", { name: "nested" }))).toBe("tools/call nested");
    expect(targetOf(request("resources/read", { uri: "awk://doc/1" }))).toBe("awk://doc/1");
    expect(targetOf(request("prompts/get", { _meta: { name: "no" }, name: "greet" }))).toBe(
      "greet",
    );
    const ref = { type: "ref/resource", uri: "a://{b}" };
    expect(targetOf(request("completion/complete", { ref }))).toBe("a://{b}");
  });
  it("says nothing that is not there, or is no name", () => {
    expect(targetOf(request("tools/call", { name: 7 }))).toBeNull();
    expect(targetOf(request("tools/call", [1]))).toBeNull();
    expect(eventTitle(request("tools/list"))).toBe("tools/list");
    const long = request("tools/call", { arguments: "x".repeat(300), name: "far" });
    expect(targetOf({ ...long, head: long.head.slice(0, 300) })).toBeNull();
  });
  it("begins with what a message carries", () => {
    expect(previewOf(request("tools/call", { name: "nested" }))).toBe('{"name":"nested"}');
    expect(previewOf(request("ping"))).toBe("");
    const answer = { seq: 2, kind: "FrameReceived" };
    const error = { ...answer, status: "error", head: '{"id":1,"error":{"code":-32' };
    expect(previewOf(anEvent(error))).toBe('{"code":-32');
    // What is no such message is shown as it is.
    for (const head of ["no JSON", '[{"id":1}]', '{"id":1,"other":2}', '{"id":1'])
      expect(previewOf(anEvent({ ...answer, head, status: "malformed" }))).toBe(head);
    expect(previewOf(anEvent({ seq: 3, kind: "StderrLine", head: '{"params":1}' }))).toBe(
      '{"params":1}',
    );
  });
  it("does not guess what an answer is of", () => {
    expect(words(anEvent({ seq: 1, kind: "FrameReceived", status: "result" }))).toBe("result");
    expect(words(anEvent({ seq: 1, kind: "FrameReceived", status: "error" }))).toBe("error");
  });
});
