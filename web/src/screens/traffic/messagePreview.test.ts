import { describe, expect, it } from "vitest";
import { anEvent } from "../../testing/views";
import { eventLabel as words } from "./eventLabel";
import { eventTitle, previewOf, targetOf, titleParts } from "./messagePreview";

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
    const reply = anEvent({ seq: 2, kind: "FrameReceived", status: "error", method: "tools/call" });
    const asked = request("tools/call", { name: "nested" });
    expect(titleParts(reply, asked)).toEqual({ name: "tools/call nested", outcome: "error" });
    expect(titleParts(asked)).toEqual({ name: "tools/call nested", outcome: "" });
    expect(titleParts(reply)).toEqual({ name: "tools/call", outcome: "error" });
    // What may be long can be cut.
    const detail = { url: "http://localhost/mcp" };
    const http = anEvent({ seq: 3, kind: "HttpRequestSent", method: "POST", detail });
    expect(titleParts(http)).toEqual({ name: "POST http://localhost/mcp", outcome: "" });
    expect(eventTitle(reply)).toBe("tools/call error");
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
  it("shows what is not a message as it is", () => {
    const answer = { seq: 2, kind: "FrameReceived" };
    for (const head of ["no JSON", '[{"id":1}]', '{"id":1,"other":2}'])
      expect(previewOf(anEvent({ ...answer, head, status: "malformed" }))).toBe(`"${head}"`);
    expect(previewOf(anEvent({ seq: 3, kind: "StderrLine", head: '{"params":1}' }))).toBe(
      '{"params":1}',
    );
  });
  it("does not guess what an answer is of", () => {
    expect(words(anEvent({ seq: 1, kind: "FrameReceived", status: "result" }))).toBe("result");
    expect(words(anEvent({ seq: 1, kind: "FrameReceived", status: "error" }))).toBe("error");
  });
});

describe("a preview", () => {
  const answer = (result: unknown, method = "tools/call", most = 300) =>
    previewOf(
      anEvent({
        seq: 2,
        kind: "FrameReceived",
        status: "result",
        method,
        head: JSON.stringify({ jsonrpc: "2.0", id: 1, result }).slice(0, most),
      }),
    );
  const ask = (method: string, params?: unknown) => previewOf(request(method, params));
  it("of a request shows its arguments, without the name and without _meta", () => {
    const params = { _meta: { a: 1 }, name: "sum", arguments: { a: 2, b: "x" } };
    expect(ask("tools/call", params)).toBe('a: 2, b: "x"');
    expect(ask("tools/call", { name: "sum", arguments: {}, task: { ttl: 1 } })).toBe(
      'task: {"ttl":1}',
    );
    expect(ask("ping")).toBe("");
    expect(ask("tools/list", { _meta: {}, cursor: "2" })).toBe("");
    expect(ask("initialize", { capabilities: {} })).toBe("");
    expect(ask("notifications/message", { level: "info", data: "it began" })).toBe("it began");
    const ref = { type: "ref/prompt", name: "translate" };
    const argument = { name: "tone", value: "f" };
    expect(ask("completion/complete", { ref, argument, context: { arguments: {} } })).toBe(
      'tone: "f"',
    );
    expect(ask("completion/complete", { ref })).toContain("ref/prompt");
  });
  it("of a question shows what is asked", () => {
    expect(ask("elicitation/create", { mode: "form", message: "Your name?" })).toBe("Your name?");
    const messages = [{ role: "user", content: { type: "text", text: "Write a haiku" } }];
    expect(ask("sampling/createMessage", { messages })).toBe('"Write a haiku"');
  });
  it("of a result shows its text, its values, or the names in a list", () => {
    const content = [{ type: "text", text: "The sum\n is 5." }];
    expect(answer({ _meta: { x: 1 }, content, resultType: "complete" })).toBe('"The sum is 5."');
    expect(answer({ content: [], structuredContent: { a: 1 } })).toBe("a: 1");
    expect(answer({ content: [{ type: "image", mimeType: "image/png" }] })).toBe("image image/png");
    expect(answer({ tools: [{ name: "a" }, { name: "b" }], ttlMs: 1 }, "tools/list")).toBe("a, b");
    const offered = (values: string[]) =>
      answer({ completion: { values, total: 2 } }, "completion/complete");
    expect(offered(["formal", "friendly"])).toBe("formal, friendly");
    expect(offered([])).toBe("none");
    const info = { name: "demo", version: "1" };
    expect(answer({ serverInfo: info, protocolVersion: "2025-11-25" }, "initialize")).toBe(
      "demo 1 · 2025-11-25",
    );
    const form = { method: "elicitation/create", params: { message: "Where?" } };
    expect(answer({ inputRequests: { form }, resultType: "input_required" })).toBe("asks: Where?");
  });
  it("of what is cut says so", () => {
    const content = [{ type: "text", text: "x".repeat(400) }];
    expect(answer({ content }, "tools/call", 100)).toMatch(/^"x{20,}…$/);
    const tools = [{ name: "a" }, { name: "b", description: "y".repeat(400) }];
    expect(answer({ tools }, "tools/list", 100)).toBe("a, b, …");
  });
  it("of an error has its message and code", () => {
    const head = JSON.stringify({ id: 1, error: { code: -32601, message: "No such method" } });
    const error = { seq: 2, kind: "FrameReceived", status: "error", head };
    expect(previewOf(anEvent(error))).toBe("No such method (-32601)");
  });
});
