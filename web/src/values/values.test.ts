import { describe, expect, it } from "vitest";
import { parseExactly } from "./exactJson";
import { pathOf } from "./jsonPath";
import { previewOf } from "./jsonPreview";
import { containersBelow } from "./jsonRows";
import { recognise } from "./recognised";
import {
  compareCells,
  csvTable,
  mainTable,
  parseCsv,
  sortedRows,
  tableOf,
  valueAt,
} from "./tables";

describe("the preview of a value", () => {
  it("has the first members, and says that there are more", () => {
    expect(previewOf({ id: 0, name: "user 0" })).toBe('{id: 0, name: "user 0"}');
    const wide = { id: 0, name: "user 0", email: "user0@example.com", note: "x".repeat(200) };
    expect(previewOf(wide, 40)).toBe('{id: 0, name: "user 0", …}');
    expect(
      previewOf(
        [
          { hour: 9, t: 14.9 },
          { hour: 12, t: 15.2 },
          { hour: 15, t: 1 },
        ],
        50,
      ),
    ).toBe("[{hour: 9, t: 14.9}, {hour: 12, t: 15.2}, …]");
  });
  it("goes two levels deep, keeps every digit, and stays short", () => {
    expect(previewOf({ a: { b: { c: { d: 1 } } } })).toBe("{a: {b: {…}}}");
    expect(previewOf(parseExactly('{"n": 12345678901234567890}').value)).toBe(
      "{n: 12345678901234567890}",
    );
    expect(previewOf({ a: "x".repeat(5_000_000) }).length).toBeLessThan(60);
    expect(previewOf([])).toBe("[]");
    expect(previewOf({ a: {}, b: [] })).toBe("{a: {}, b: []}");
  });
});

describe("the path of a value", () => {
  const value = { users: [{ "first name": "Ada" }], "a/b": { "~": 1 } };
  it("is written as people write it", () => {
    expect(pathOf(value, "")).toBe("$");
    expect(pathOf(value, "/users/0/first name")).toBe('$.users[0]["first name"]');
    expect(pathOf(value, "/a~1b/~0")).toBe('$["a/b"]["~"]');
    expect(pathOf({ big: [] }, "/big/~:1000")).toBe("$.big");
  });
  it("leads to the value again", () => {
    expect(valueAt(value, "/a~1b/~0")).toBe(1);
    expect(valueAt(value, "/users/9/x")).toBeUndefined();
  });
});

it("all containers below a node are known, groups of long lists too", () => {
  expect(containersBelow({ b: [1, { c: {} }] }, "/a")).toEqual([
    "/a",
    "/a/b",
    "/a/b/1",
    "/a/b/1/c",
  ]);
  const long = Array.from({ length: 1500 }, () => 0);
  expect(containersBelow(long, "")).toEqual(["", "/~:0", "/~:1000"]);
});

describe("what a value seems to be", () => {
  const note = (name: string, value: unknown): string | null =>
    recognise(name, value)?.note ?? null;
  it("is a date, with the day and the time here", () => {
    expect(note("at", "2026-01-11T09:30:00Z")).toMatch(/^Sun,? 11 Jan 2026/);
    expect(note("day", "2026-01-11")).toBe("Sunday");
    expect(note("created_at", 1767225600)).toMatch(/Jan 2026|Dec 2025/);
    expect(note("updatedAt", 1767225600123)).toMatch(/Jan 2026|Dec 2025/);
  });
  it("is no date where only the digits look so", () => {
    expect(note("count", 1767225600)).toBeNull();
    expect(note("version", "2026-13-45")).toBeNull();
    expect(note("protocolVersion", "2026-07-28")).toBeNull();
    expect(note("0", "2026-07-28")).toBeNull(); // one of supportedVersions
    expect(note("created_at", 12)).toBeNull();
    expect(note("phone", "2026-01-11-22")).toBeNull();
  });
  it("is bytes in base64, with what they are", () => {
    const png = `iVBORw0KGgo${"A".repeat(53)}`;
    expect(recognise("logo", png)).toEqual({
      note: "base64, image/png, 48 B",
      bytes: { mime: "image/png", ending: "png" },
    });
    expect(note("data", btoa("The quick brown fox jumps over the lazy dog, 12 times a day."))).toBe(
      "base64, 60 B",
    );
    expect(note("hash", "deadbeef".repeat(8))).toBeNull();
    expect(note("word", "internationalisation".repeat(4))).toBeNull();
    expect(note("text", "Two words, and a stop.".repeat(8))).toBeNull();
  });
});

describe("a table", () => {
  const users = [
    { id: 2, name: "b", tags: ["x"] },
    { id: 10, name: "a" },
    { id: 1, name: null },
  ];
  it("is a list of like objects", () => {
    expect(tableOf(users)?.columns).toEqual(["id", "name", "tags"]);
    expect(tableOf([{ a: 1 }, { b: 2 }])).toBeNull();
    expect(tableOf([{ a: 1, b: 1 }, 3])).toBeNull();
    expect(tableOf([1, 2])).toBeNull();
    expect(tableOf([{ a: 1, b: 2 }])).toBeNull();
  });
  it("is offered where a value mainly is one", () => {
    expect(mainTable(users)).toBe("");
    expect(mainTable({ total: 3, "the/users": users })).toBe("/the~1users");
    expect(mainTable({ users, others: users })).toBeNull();
  });
  it("is sorted by numbers, words and dates, with what is missing last either way", () => {
    const table = tableOf(users);
    if (!table) throw new Error("not a table");
    expect(sortedRows(table, null)).toEqual([0, 1, 2]);
    expect(sortedRows(table, { column: 0, isDown: false })).toEqual([2, 0, 1]);
    expect(sortedRows(table, { column: 0, isDown: true })).toEqual([1, 0, 2]);
    expect(sortedRows(table, { column: 1, isDown: true })).toEqual([0, 1, 2]);
    expect(compareCells("item 10", "item 9")).toBeGreaterThan(0);
    expect(compareCells("10", 9)).toBeGreaterThan(0);
  });
});

describe("separated values", () => {
  it("keep what stands in quotes together", () => {
    expect(parseCsv('id,name\r\n1,"Ada, ""Countess""\nof Lovelace"\n\n2,\n', ",")).toEqual([
      ["id", "name"],
      ["1", 'Ada, "Countess"\nof Lovelace'],
      ["2", ""],
    ]);
    expect(parseCsv('a,"never closed\nb', ",")).toEqual([["a", "never closed\nb"]]);
    expect(parseCsv('"a"b,c', ",")).toEqual([["ab", "c"]]);
  });
  it("are told apart by the separator of the first line", () => {
    expect(csvTable("a;b,c;d\n1;2;3")?.columns).toEqual(["a", "b,c", "d"]);
    expect(csvTable("a\tb\n1\t2")?.columns).toEqual(["a", "b"]);
    expect(csvTable("just a line\nand another")).toBeNull();
    expect(csvTable("")).toBeNull();
  });
  it("are read in a moment, however many", () => {
    const text = `id,name\n${"1,word\n".repeat(200_000)}`;
    expect(csvTable(text)?.rows).toHaveLength(200_000);
  });
});
