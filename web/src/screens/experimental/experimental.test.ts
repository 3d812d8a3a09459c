import { describe, expect, it } from "vitest";
import { trialOf } from "./Experimental";
import { aboutLines, bytesToSend } from "./RawTester";

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
});
