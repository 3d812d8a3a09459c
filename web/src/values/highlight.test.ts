import { describe, expect, it } from "vitest";
import { languageOf, languageOfFence } from "./highlight";

describe("the language of a text", () => {
  it.each([
    ["application/ld+json", "", "json"],
    ["text/html; charset=utf-8", "file:///a.py", "xml"],
    ["image/svg+xml", "", "xml"],
    ["text/plain", "file:///a/b.PY?x=1", "python"],
    ["text/x-python", "", "python"],
    ["", "file:///a.yml#b", "yaml"],
    ["", "file:///a.mjs", "script"],
    ["text/plain", "demo://status", null],
  ])("%s %s is %s", (mime, uri, language) => {
    expect(languageOf(mime, uri)).toBe(language);
  });
  it("is named by the fence of a block, in any case", () => {
    expect(languageOfFence("TypeScript")).toBe("script");
    expect(languageOfFence("py")).toBe("python");
    expect(languageOfFence("constructor")).toBeNull();
    expect(languageOfFence("")).toBeNull();
  });
});
