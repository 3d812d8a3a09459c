import { describe, expect, it } from "vitest";
import { asSentence, formatBytes, formatDuration, formatTime } from "../values/format";
import { ancestorsOf, findIn, initiallyOpen, rowsOf } from "../values/jsonRows";
import { rowStarts } from "../values/textRows";
import { isWebLink, looksLikeMarkdown } from "./Markdown";
import { iconOf, initials } from "./ServerIcon";
import { rowsAt } from "./useRowWindow";

describe("rowsAt", () => {
  it("gives what is on the screen and a little beyond, within the list", () => {
    expect(rowsAt(0, 100, 20, 1000)).toEqual({ first: 0, last: 15 });
    expect(rowsAt(10_000, 100, 20, 1000)).toEqual({ first: 490, last: 515 });
    expect(rowsAt(19_900, 100, 20, 1000).last).toBe(1000);
    expect(rowsAt(5000, 100, 20, 3)).toEqual({ first: 2, last: 3 });
    expect(rowsAt(0, 100, 20, 0)).toEqual({ first: 0, last: 0 });
  });
});

describe("the rows of a tree", () => {
  const value = { list: [1, { deep: "needle" }], "a/b": null };
  it("walks only what is open", () => {
    expect(rowsOf(value, new Set()).map((row) => row.pointer)).toEqual([""]);
    expect(rowsOf(value, new Set(["", "/list"])).map((row) => row.pointer)).toEqual([
      "",
      "/list",
      "/list/0",
      "/list/1",
      "/a~1b",
    ]);
  });
  it("finds values and names, and knows what must be open to see them", () => {
    expect(findIn(value, "NEEDLE")).toEqual(["/list/1/deep"]);
    expect(findIn(value, "deep")).toEqual(["/list/1/deep"]);
    expect(ancestorsOf(value, "/list/1/deep")).toEqual(["", "/list", "/list/1"]);
  });
  it("opens at first what fits", () => {
    expect(initiallyOpen(value, 100)).toEqual(new Set(["", "/list", "/list/1"]));
    const big = Array.from({ length: 1000 }, () => 0);
    expect(initiallyOpen({ big, more: 1 }, 100)).toEqual(new Set([""]));
    expect(initiallyOpen({ big }, 100)).toEqual(new Set(["", "/big"]));
  });
  it.each([
    ["list", Array.from({ length: 600_000 }, (_, n) => ({ n }))],
    ["object", Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`k${n}`, { n }]))],
  ])("shows a long %s in groups, of which the first is open", (_, big) => {
    const size = Object.keys(big).length;
    const groups = Math.ceil(size / 1000);
    const open = initiallyOpen({ big }, 200);
    const rows = rowsOf({ big }, open);
    expect(rows).toHaveLength(2 + groups + 1000);
    expect(rows[2]).toMatchObject({ name: "0 … 999", size: 1000, isOpen: true, depth: 2 });
    expect(rows[3]).toMatchObject({ value: { n: 0 }, depth: 3 });
    expect(rows.at(-1)).toMatchObject({ name: `${(groups - 1) * 1000} … ${size - 1}` });
    const last = findIn({ big }, String(size - 1)).at(-1);
    const shown = rowsOf({ big }, new Set(ancestorsOf({ big }, last ?? "")));
    expect(shown.find((row) => row.pointer === last)?.value).toBe(size - 1);
    expect(Object.values(shown[2 + groups - 1]?.value as object).at(-1)).toEqual({ n: size - 1 });
  });
});

describe("Markdown", () => {
  it("is guessed only where it shows, and links only to the web", () => {
    expect(looksLikeMarkdown("plain words, 2 * 3 * 4")).toBe(false);
    expect(looksLikeMarkdown("# Title\n\n- one\n- two")).toBe(true);
    expect(isWebLink("javascript:alert(1)")).toBe(false);
    expect(isWebLink("https://example.com")).toBe(true);
  });
});

describe("small things", () => {
  it("writes sizes and times for people", () => {
    expect([formatBytes(999), formatBytes(1500), formatBytes(5_000_000)]).toEqual([
      "999 B",
      "1.5 kB",
      "5.0 MB",
    ]);
    expect([formatDuration(0.0001), formatDuration(0.25), formatDuration(75)]).toEqual([
      "<1 ms",
      "250 ms",
      "1 min 15 s",
    ]);
    expect(formatTime(0)).toMatch(/^\d\d:\d\d:00\.000$/);
  });
  it("draws icons from data: only", () => {
    expect(
      iconOf([{ src: "https://example.com/a.png" }, { src: "data:image/png;base64,AA" }]),
    ).toBe("data:image/png;base64,AA");
    expect(iconOf([{ src: "data:text/html,<script>" }])).toBeNull();
    expect(initials("my-server")).toBe("MS");
  });
  it("cuts an endless line", () => {
    expect(rowStarts("x".repeat(9000))).toHaveLength(3);
  });
});

describe("a message that stands alone", () => {
  it("begins with a capital if its first word is one of ours", () => {
    expect(asSentence("the server answered with error -1: the end")).toBe(
      "The server answered with error -1: the end",
    );
    expect(asSentence("a sign-in is under way")).toBe("A sign-in is under way");
    expect(asSentence("not valid JSON: line 1")).toBe("Not valid JSON: line 1");
  });
  it("keeps names and what has a beginning already", () => {
    for (const text of [
      "weather is not connected",
      "tools/call cannot be",
      "theme is",
      "It is",
      "",
    ])
      expect(asSentence(text)).toBe(text);
  });
});
