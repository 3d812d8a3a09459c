import { describe, expect, it } from "vitest";
import { partialInputFindings } from "./partialInput";

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
