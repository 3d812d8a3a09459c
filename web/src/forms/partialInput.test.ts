import { describe, expect, it } from "vitest";
import { partialInputFindings, withoutPartialInputs, withPartialInputs } from "./partialInput";

const places = (partial: Record<string, string>, value: unknown): string[] =>
  partialInputFindings(partial, value).map((finding) => finding.pointer);

describe("what is partial typed", () => {
  it.each([
    ["/a", {}],
    ["/a", { a: null }],
    ["/a/b", {}],
    ["/a/0", { a: [null] }],
    ["/a/0/b", { a: [{}] }],
    ["/x~1y", {}],
  ])("at %s is not sent with %j", (pointer, value) => {
    expect(places({ [pointer]: "1x" }, value)).toEqual([pointer]);
  });
  it.each([
    ["/a", { a: 1 }],
    ["/a/b", { a: "text" }],
    // The item was removed.
    ["/a/1", { a: [null] }],
    ["/a/0", {}],
  ])("at %s has no field with %j", (pointer, value) => {
    expect(places({ [pointer]: "1x" }, value)).toEqual([]);
  });
  it("and blank is nothing", () => {
    expect(places({ "/a": " " }, {})).toEqual([]);
  });
});

describe("what is sent anyway", () => {
  it.each([
    [{ "/a": "abc" }, { b: 4 }, { b: 4, a: "abc" }],
    [{ "/a/b": "1x" }, {}, { a: { b: "1x" } }],
    [{ "/a/0": "1x" }, { a: [null, 2] }, { a: ["1x", 2] }],
    [{ "/a": '{"x": $&' }, {}, { a: '{"x": $&' }],
    // Taken from the form: the field has a value by now.
    [{ "/a": "1x" }, { a: 1 }, { a: 1 }],
  ])("has %j as it was typed", (partial, value, sent) => {
    const text = withPartialInputs(JSON.stringify(value), partial as Record<string, string>, {});
    expect(JSON.parse(text)).toEqual(sent);
  });
  it("has all digits of a number that the form would round", () => {
    expect(withPartialInputs("{}", { "/a": "12345678901234567890" }, {})).toContain(
      '"a": 12345678901234567890',
    );
  });
  it.each(["abc", "12345678901234567890", "[12345678901234567890]"])(
    "gives %s back to its field",
    (typed) => {
      const partial = { "/a": typed, "/c/0": "x" };
      const before = { b: 4, c: [null] };
      const text = withPartialInputs(JSON.stringify(before), partial, {});
      expect(JSON.parse(withoutPartialInputs(text, partial))).toEqual(before);
    },
  );
  it("keeps what was changed as JSON", () => {
    expect(withoutPartialInputs('{"a":5}', { "/a": "abc" })).toBe('{"a":5}');
    const other = '{"a": 12345678901234567891}';
    expect(withoutPartialInputs(other, { "/a": "12345678901234567890" })).toBe(other);
  });
});
