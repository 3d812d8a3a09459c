import { expect, it } from "vitest";
import { visible, visibleName } from "./hiddenCharacters";

it.each([
  ["safe\u202Egnp.exe", "safe⟦U+202E⟧gnp.exe"],
  ["\u2066a\u2069b", "⟦U+2066⟧a⟦U+2069⟧b"],
  ["ad\u200Bmin\uFEFF", "ad⟦U+200B⟧min⟦U+FEFF⟧"],
  ["read\u200Dfile", "read⟦U+200D⟧file"],
  ["read\u200Cfile", "read⟦U+200C⟧file"],
  ["می\u200C", "می⟦U+200C⟧"],
  ["soft\u00ADhyphen", "soft⟦U+00AD⟧hyphen"],
  ["a\u{E0069}\u{E006E}b", "a⟦U+E0069⟧⟦U+E006E⟧b"],
  ["a\u{E0101}\u{E0102}", "a\u{E0101}⟦U+E0102⟧"],
  ["\uFE01a", "⟦U+FE01⟧a"],
  ["bell\u0007 \u001B[31mred\u0085", "bell⟦U+0007⟧ ⟦U+001B⟧[31mred⟦U+0085⟧"],
  ["a\u3164b\u2028c", "a⟦U+3164⟧b⟦U+2028⟧c"],
])("what nobody sees is told: %j", (name, shown) => {
  expect(visible(name)).toBe(shown);
});

it.each([
  "plain name",
  "two\nlines\tand a tab\r\n",
  "שלום",
  "日本語",
  "葛\u{E0100}飾",
  "می\u200Cخواهم",
  "क्\u200Dष",
  "👩‍💻",
  "👩🏽‍🚀",
  "❤️‍🔥",
  "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
  "",
])("other words stay as they are: %j", (name) => {
  expect(visible(name)).toBe(name);
});

it.each([
  [" ", "⟦U+0020⟧"],
  ["\n\t", "⟦U+000A⟧⟦U+0009⟧"],
  [" a ", " a "],
  ["\u200B", "⟦U+200B⟧"],
  ["", ""],
])("a name that is nothing but room is told: %j", (name, shown) => {
  expect(visibleName(name)).toBe(shown);
});

it("a long text of hidden characters is read in one go", () => {
  const tags = "\u{E0041}".repeat(20_000);
  expect(visible(`a${tags}`)).toBe(`a${"⟦U+E0041⟧".repeat(20_000)}`);
  expect(visible(`🏴${tags}`).match(/⟦/g)?.length).toBeGreaterThan(19_990);
});
