import { describe, expect, it } from "vitest";
import { resultOf } from "./samplingAnswer";
import { inspectUrl } from "./urlWarnings";

describe("inspectUrl", () => {
  it("finds nothing odd about an ordinary address", () => {
    expect(inspectUrl("https://auth.example.com/oauth?state=1")).toEqual({
      host: "auth.example.com",
      isOpenable: true,
      warnings: [],
    });
  });
  it.each([
    ["https://google.com@evil.example/", "user information"],
    ["https://xn--pple-43d.com/", "punycode"],
    ["https://аpple.com/", "punycode"],
    ["https://203.0.113.9/", "IP address"],
    ["https://[2001:db8::1]/", "IP address"],
    ["http://example.com/", "not encrypted"],
    ["http://localhost:3000/", "this computer"],
    ["https://intranet/", "no dot"],
    ["https://example.com:8443/", "port 8443"],
    ["https://example.com/\u202Etxt", "invisible"],
  ])("warns about %s", (url, word) => {
    const report = inspectUrl(url);
    expect(report.isOpenable).toBe(true);
    expect(report.warnings.join(" ")).toContain(word);
  });
  it.each(["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "not a url"])(
    "never opens %s",
    (url) => {
      expect(inspectUrl(url).isOpenable).toBe(false);
    },
  );
});

describe("resultOf", () => {
  const draft = {
    text: "4",
    model: "m",
    stopReason: "endTurn",
    toolCalls: [],
    toolChoice: "auto",
    tool: null,
    profile: "manual",
  };
  it("answers with a text", () => {
    expect(resultOf(draft)).toEqual({
      role: "assistant",
      model: "m",
      stopReason: "endTurn",
      content: { type: "text", text: "4" },
    });
  });
  it("answers with tool calls", () => {
    const result = resultOf({
      ...draft,
      text: "",
      stopReason: "toolUse",
      toolCalls: [{ name: "add", input: '{"a":2}' }],
    });
    expect(result.content).toEqual([
      { type: "tool_use", id: "call_1", name: "add", input: { a: 2 } },
    ]);
  });
});
