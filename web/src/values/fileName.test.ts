import { expect, it } from "vitest";
import { fileName } from "./fileName";

const WALL = new Date(2026, 10, 16, 9, 8, 7).getTime() / 1000;

it.each([
  [["demo", "traffic"], "demo-traffic"],
  [[null, "logs"], "logs"],
  [["../../etc/passwd", "a:b*c?"], "etc-passwd-a-b-c"],
  [["CON.", "nul.txt"], "CON-nul-txt"],
  [["safe\u202Egnp", "日本語 サーバー"], "safe-gnp-日本語-サーバー"],
  [["cafe\u0301", "..."], "café"],
  [["x".repeat(300), "🎉"], "x".repeat(24)],
  [["\u0000", ""], "mcplens"],
])("a file is named by whose it is, what it is and when: %j", (about, name) => {
  expect(fileName(about, "jsonl", WALL)).toBe(`${name}-2026-11-16T09-08-07.jsonl`);
});

it("is short enough for every file system, in any script", () => {
  const long = "𠀀".repeat(300);
  expect(new TextEncoder().encode(fileName([long, long], "jsonl")).length).toBeLessThan(255);
});
