import { describe, expect, it } from "vitest";
import { nextMatch } from "../components/FindBar";
import {
  columnsIn,
  findAll,
  isContinued,
  lastIndexAtMost,
  MAX_COLUMNS,
  rowAt,
  rowStarts,
  splitAtMatches,
} from "./textRows";

describe("a long text", () => {
  const text = `one\n\n${"x".repeat(MAX_COLUMNS + 5)}\nlast\n`;

  it("is cut into rows, and long lines into pieces", () => {
    const starts = rowStarts(text);
    const rows = starts.map((_, row) => {
      const { start, end } = rowAt(text, starts, row);
      return text.slice(start, end);
    });
    expect(rows).toEqual(["one", "", "x".repeat(MAX_COLUMNS), "xxxxx", "last", ""]);
    expect(lastIndexAtMost(starts, text.indexOf("last"))).toBe(4);
  });

  const wrapped = (given: string, width: number): string[] => {
    const starts = rowStarts(given, width);
    return starts.map((_, row) => {
      const { start, end } = rowAt(given, starts, row);
      return `${isContinued(given, start) ? "+" : ""}${given.slice(start, end)}`;
    });
  };

  it("is wrapped at the width of its box, and told where a row goes on", () => {
    expect(wrapped("abcdefgh\n\nabcd\nabcde", 4)).toEqual([
      "abcd",
      "+efgh",
      "",
      "abcd",
      "abcd",
      "+e",
    ]);
    expect(wrapped("", 4)).toEqual([""]);
  });

  it("is wrapped by what is seen: tabs, wide characters, and no emoji cut in two", () => {
    expect(wrapped("a\tbcd", 10)).toEqual(["a\tbc", "+d"]);
    expect(wrapped("漢字漢字x", 5)).toEqual(["漢字", "+漢字x"]);
    expect(wrapped("abc😀d", 4)).toEqual(["abc", "+😀d"]);
  });

  it("has rows for a box of any width", () => {
    expect([columnsIn(566, 7.2), columnsIn(20, 7.2), columnsIn(0, 7.2), columnsIn(566, 0)]).toEqual(
      [78, 10, MAX_COLUMNS, MAX_COLUMNS],
    );
  });

  it("is searched in either case, and for what would be a pattern", () => {
    expect(findAll("Ab aB.b", "ab")).toEqual([0, 3]);
    expect(findAll("a.b axb", "a.b")).toEqual([0]);
  });

  it("is cut at what was found, also across two pieces", () => {
    expect(splitAtMatches("abcabc", 0, 6, [1, 4], 1).map((one) => [one.text, one.match])).toEqual([
      ["a", -1],
      ["b", 0],
      ["ca", -1],
      ["b", 1],
      ["c", -1],
    ]);
    expect(splitAtMatches("abcdef", 3, 6, [2], 2).map((one) => [one.text, one.match])).toEqual([
      ["d", 0],
      ["ef", -1],
    ]);
  });

  it("is stepped through round and round", () => {
    expect([
      nextMatch(-1, 1, 3),
      nextMatch(2, 1, 3),
      nextMatch(0, -1, 3),
      nextMatch(-1, -1, 3),
    ]).toEqual([0, 0, 2, 2]);
    expect(nextMatch(0, 1, 0)).toBe(-1);
  });
});
