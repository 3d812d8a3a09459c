import { describe, expect, it } from "vitest";
import { LARGEST, type Language, languageOf, spansOf, tokensOf } from "./highlight";

const told = (text: string, language: Language): string[] =>
  tokensOf(text, language).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

describe("the words that get a colour", () => {
  it("are keys, strings, numbers and words of JSON", () => {
    expect(told('{"a": "b: \\" 1", "n": [-1.5e3, null]}', "json")).toEqual([
      'key "a"',
      'string "b: \\" 1"',
      'key "n"',
      "number -1.5e3",
      "word null",
    ]);
  });
  it("are tags and attributes of XML, and nothing of its text", () => {
    expect(told("<!-- <a> --><p id=\"x\" hidden>don't &amp; can't</p>", "xml")).toEqual([
      "comment <!-- <a> -->",
      "word <p",
      "key id",
      'string "x"',
      "word >",
      "word &amp;",
      "word </p",
      "word >",
    ]);
  });
  it("are keys of YAML, and no apostrophe", () => {
    expect(told("# top\nname: don't # so\n- on: true\n  - 'a': 12\n", "yaml")).toEqual([
      "comment # top",
      "key name",
      "comment # so",
      "key on",
      "word true",
      "string 'a'",
      "number 12",
    ]);
  });
  it("are what Python and JavaScript are made of", () => {
    expect(told('def f(x):  # if\n    return """a\n\'b""" + x1', "python")).toEqual([
      "word def",
      "comment # if",
      "word return",
      'string """a\n\'b"""',
    ]);
    expect(told("const a = `x{1}\n`; /* 1\n2 */ a.new(0x1F) // end", "script")).toEqual([
      "word const",
      "string `x{1}\n`",
      "comment /* 1\n2 */",
      "number 0x1F",
      "comment // end",
    ]);
  });
  it("are none of a text that is too large, and few of one that never ends", () => {
    expect(tokensOf("1 ".repeat(LARGEST), "json")).toEqual([]);
    for (const text of ["'\"", "<a ", '"""', "/*", " ", "- ", "a: ", "\\", "{", "`", "<!--", "1"])
      for (const language of ["json", "xml", "yaml", "python", "script"] as const)
        tokensOf(text.repeat(LARGEST / text.length), language);
  });
});

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
});

describe("spansOf", () => {
  it("cuts a row out of a token that goes over several", () => {
    const text = "a /* b\nc */ 1";
    const tokens = tokensOf(text, "script");
    const spans = (start: number, end: number) =>
      spansOf(text, start, end, tokens).map((span) => [span.kind, span.text]);
    expect(spans(0, 6)).toEqual([
      [null, "a "],
      ["comment", "/* b"],
    ]);
    expect(spans(7, 13)).toEqual([
      ["comment", "c */"],
      [null, " "],
      ["number", "1"],
    ]);
  });
});
