// Patterns of schemas are matched by the backend: none can freeze the page.
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { PatternCheck } from "../api/types";
import { command } from "../state/commands";
import type { Verdict } from "./patternVerdicts";
import { box, field, one, renderForm } from "./testing";
import { check, isValid, validate } from "./validate";

vi.mock("../components/CodeEditor");
vi.mock("../state/commands");

// Hours in a browser.
const SLOW = "^(a+)+$";
const LETTERS = `${"a".repeat(40)}!`;

let checks: PatternCheck[] = [];
let judge: (pattern: string, text: string) => Verdict = () => "matches";

beforeEach(() => {
  checks = [];
  vi.mocked(command).mockImplementation(async (_, fields) => {
    const asked = (fields as { checks: PatternCheck[] }).checks;
    checks.push(...asked);
    return { verdicts: asked.map(({ pattern, text }) => judge(pattern, text)) } as never;
  });
});

/** Validates until every verdict is known. */
async function settled(schema: object, value: unknown) {
  check(schema, value);
  const before = checks.length;
  await vi.waitFor(() => expect(checks.length).toBeGreaterThan(before));
  await Promise.resolve();
  return check(schema, value);
}

describe("a pattern", () => {
  it("that a browser could not end is matched elsewhere, as a default and as typed", async () => {
    judge = (_, text) => (text.includes("!") ? "differs" : "matches");
    const page = await renderForm(one({ type: "string", pattern: SLOW, default: LETTERS }), {
      isTried: true,
    });
    expect(await screen.findByText("The text does not match the pattern.")).toBeTruthy();
    await userEvent.type(field(), "{Backspace}");
    expect(page.sent()).toEqual({ it: "a".repeat(40) });
    await waitFor(() => expect(screen.queryByText(/does not match/)).toBeNull());
  });
  it.each([
    ["too_slow", "The pattern is too slow to check."],
    ["unusable", "The pattern cannot be checked: it is not a valid regular expression."],
  ] as const)("that is %s is said to be unchecked, and accuses nobody", async (verdict, words) => {
    judge = () => verdict;
    await renderForm(one({ type: "string", pattern: `${SLOW}${verdict}`, default: "a" }), {
      isTried: true,
    });
    await waitFor(() => expect(field().getAttribute("aria-describedby")).toBeTruthy());
    await waitFor(() => {
      const about = field().getAttribute("aria-describedby")?.split(" ") ?? [];
      const texts = about.map((id) => document.getElementById(id)?.textContent ?? "");
      expect(texts.join(" ")).toContain(words);
    });
    expect(field().getAttribute("aria-invalid")).not.toBe("true");
    expect(screen.getByLabelText("Not checked").textContent).toContain(words);
    expect(screen.queryByLabelText("Schema violations")).toBeNull();
  });
  it("stands beside a format, in a reference, in a list and for names", async () => {
    judge = (pattern) => (pattern === "names" ? "matches" : "differs");
    const schema = {
      $defs: { slow: { pattern: `${SLOW}2` } },
      properties: {
        a: { format: "email", pattern: `${SLOW}1` },
        b: { $ref: "#/$defs/slow" },
        c: { items: { pattern: `${SLOW}3` } },
        pattern: { const: { pattern: SLOW } },
      },
      propertyNames: { pattern: "names" },
    };
    const value = { a: "a@b.c", b: "b", c: ["c"], pattern: { pattern: SLOW } };
    const { findings } = await settled(schema, value);
    const places = findings.map(({ pointer }) => pointer);
    expect(places).toEqual(expect.arrayContaining(["/a", "/b", "/c/0"]));
    expect(places).not.toContain("/pattern");
    expect(checks.map(({ text }) => text)).toEqual(expect.arrayContaining(["a", "pattern"]));
  });
  it("of names decides which properties are allowed", async () => {
    judge = (pattern, text) => (text.startsWith(pattern.slice(0, 1)) ? "matches" : "differs");
    const schema = {
      patternProperties: { "x(a+)+$": { type: "string" }, "x(b+)+$": { minLength: 3 } },
      additionalProperties: false,
    };
    expect(validate(schema, { "x.a": 1, other: 2 })).toEqual([]);
    const { findings } = await settled({ ...schema, $comment: "again" }, { "x.a": "1", "o[r": 2 });
    const places = findings.map(({ pointer }) => pointer);
    expect(places).toEqual(["/x.a", "/o[r"]);
  });
  it("of names that could not be checked holds back the verdict on all of them", async () => {
    judge = () => "too_slow";
    const schema = { patternProperties: { "n(a+)+$": {} }, additionalProperties: false };
    const { findings, unchecked } = await settled(schema, { nnn: 1 });
    expect(findings).toEqual([]);
    expect(unchecked).toHaveLength(1);
  });
  it("tells the kinds of a value apart once its verdict is there", async () => {
    judge = (pattern) => (pattern.startsWith("^b") ? "matches" : "differs");
    const kinds = ["^a(x+)+$", "^b(x+)+$"].map((pattern) => ({
      type: "string",
      pattern,
      title: pattern.slice(1, 2),
    }));
    // A browser that matched by itself would say a.
    await renderForm(one({ anyOf: kinds, default: "ax" }));
    await waitFor(() => expect(box()).toHaveProperty("value", "b"));
  });
});

describe("without a backend", () => {
  it("nothing freezes and nothing is accused", () => {
    vi.mocked(command).mockRejectedValue(new Error("gone"));
    expect(validate({ pattern: `${SLOW}x` }, LETTERS)).toEqual([]);
    expect(isValid({ pattern: `${SLOW}y` }, LETTERS)).toBe(true);
    expect(validate({ format: "url" }, `http://${LETTERS}`)).toEqual([]);
    expect(validate({ patternProperties: { [SLOW]: {} } }, { [LETTERS]: 1 })).toEqual([]);
  });
  it("an object with such names is drawn as JSON, one with plain names as keys", async () => {
    vi.mocked(command).mockRejectedValue(new Error("gone"));
    const named = (pattern: string): object =>
      one({ type: "object", patternProperties: { [pattern]: { type: "string" } } });
    const start = { text: JSON.stringify({ it: { [LETTERS]: "x" } }), mode: "form" } as const;
    const slow = await renderForm(named(SLOW), { start });
    expect(screen.queryByRole("button", { name: "Add a key" })).toBeNull();
    expect(slow.sent()).toEqual({ it: { [LETTERS]: "x" } });
    slow.unmount();
    await renderForm(named("^[a-z]+$"));
    expect(screen.getByRole("button", { name: "Add a key" })).toBeTruthy();
  });
});
