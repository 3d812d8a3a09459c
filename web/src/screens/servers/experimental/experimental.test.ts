import { describe, expect, it } from "vitest";
import { type Aside, asideOf, headersAgain, TEMPLATE } from "../../../state/rawMessage";
import { trialOf } from "./Experimental";
import { nameIn } from "./RawHistory";
import { aboutLines, bytesToSend } from "./useRawSending";

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
  it("names what a recorded request is about", () => {
    expect(nameIn('{"method":"tools/call","params":{"name": "echo","arg')).toBe("echo");
    expect(nameIn('{"method":"tools/list"}')).toBe("");
  });
  it("puts aside what somebody typed, and nothing else", () => {
    const typed = { text: "half", headers: [["a", "1"]] as [string, string][] };
    expect(asideOf({ text: TEMPLATE, headers: [] }, null, "new")).toBeNull();
    const first = asideOf(typed, null, "new") as Aside;
    expect(first).toEqual({ former: typed, placed: "new" });
    const second = asideOf({ text: "new", headers: [] }, first, "newer");
    expect(second).toEqual({ former: typed, placed: "newer" });
    const other = { text: "newer, edited", headers: [] };
    expect(asideOf(other, second, "newest")?.former).toBe(other);
  });
  it("brings headers back, a secret one with the value that is typed already", () => {
    const given = { "X-Mode": "loud", Authorization: "", "X-Token": "" };
    expect(headersAgain(given, [["Authorization", "Bearer me"]])).toEqual([
      ["X-Mode", "loud"],
      ["Authorization", "Bearer me"],
      ["X-Token", ""],
    ]);
  });
});
