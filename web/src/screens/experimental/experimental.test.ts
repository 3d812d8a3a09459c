import { describe, expect, it } from "vitest";
import type { CallView } from "../../api/types";
import { trialOf } from "./Experimental";
import { aboutLines, bytesToSend, messageOf } from "./RawTester";

describe("the raw tester", () => {
  it("tries the first method that a capability names", () => {
    const methodOf = (value: unknown): unknown => JSON.parse(trialOf(value)).method;
    expect(methodOf({ methods: ["a/b", "a/c"] })).toBe("a/b");
    for (const odd of [{ methods: [] }, { methods: "a/b" }, {}, null, 4])
      expect(methodOf(odd)).toBe("experimental/method");
  });
  it("says what becomes of line breaks", () => {
    const text = '{\n  "a": 1\n}';
    expect(bytesToSend(text, true)).toBe('{ "a": 1 }');
    expect(aboutLines(text, true)).toContain("become spaces");
    expect(aboutLines("{\n", true)).toContain("each of these lines");
    expect(bytesToSend("{\n", true)).toBe("{\n");
    expect(aboutLines(text, false)).toBeNull();
    expect(aboutLines("{}", true)).toBeNull();
  });
  it("loads a raw call byte for byte, and any other as JSON-RPC", () => {
    expect(messageOf({ request: "{broken" } as CallView)).toBe("{broken");
    expect(messageOf({ request: null } as unknown as CallView)).toBeNull();
    const call = { request: { cursor: "x" }, request_id: 7, method: "tools/list" };
    expect(JSON.parse(messageOf(call as unknown as CallView) ?? "")).toEqual({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/list",
      params: { cursor: "x" },
    });
  });
});
