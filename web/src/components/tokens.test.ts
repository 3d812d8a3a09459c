import { beforeAll, describe, expect, it } from "vitest";
import { LARGEST, type Language, spansOf, type Token } from "../values/highlight";
import { PARSERS } from "./highlighters";
import { tokensOf } from "./tokens";

const LANGUAGES = ["json", "xml", "yaml", "python", "script"] as const;
beforeAll(async () => {
  for (const language of LANGUAGES) await PARSERS[language].load();
});

function read(text: string, language: Language): Token[] {
  const parser = PARSERS[language].loaded?.parser;
  const isProgram = language === "python" || language === "script";
  return parser ? tokensOf(text, parser, isProgram) : [];
}
const told = (text: string, language: Language): string[] =>
  read(text, language).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);

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
    const words = told("<!-- <a> --><p id=\"x\" hidden=''>don't &amp; can't</p>", "xml");
    expect(words).toContain("comment <!-- <a> -->");
    expect(words).toContain("word p");
    expect(words).toContain("key id");
    expect(words).toContain('string "x"');
    expect(words).toContain("word &amp;");
    expect(words.join()).not.toContain("don't");
  });
  it("are keys and strings of YAML, and no apostrophe", () => {
    const words = told("# top\nname: don't # so\n'a': 12\n", "yaml");
    expect(words).toContain("comment # top");
    expect(words).toContain("key name");
    expect(words).toContain("comment # so");
    expect(words.join()).not.toContain("string don't");
  });
  it("are what Python and JavaScript are made of", () => {
    const python = told('def f(x):  # if\n    return """a\n\'b""" + x1', "python");
    expect(python).toEqual(["word def", "comment # if", "word return", 'string """a\n\'b"""']);
    const script = told("const a = `x{1}\n`; /* 1\n2 */ a.b(0x1F) // end", "script");
    expect(script).toContain("word const");
    expect(script).toContain("comment /* 1\n2 */");
    expect(script).toContain("number 0x1F");
    expect(script).toContain("comment // end");
  });
  it.each(LANGUAGES)("are read in one go, also in %s that never ends", (language) => {
    for (const text of ["'\"", "<a ", '"""', "/*", "- ", "a: ", "{", "`", "<!--", "1", "(", "[a"])
      expect(read(text.repeat(LARGEST / text.length), language)).toBeDefined();
  });
});

describe("spansOf", () => {
  it("cuts a row out of a token that goes over several", () => {
    const text = "a /* b\nc */ 1";
    const tokens = read(text, "script");
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
