import { expect, it } from "vitest";
import { visible } from "./visible";

it.each([
  ["safe\u202Egnp.exe", "safe⟦U+202E⟧gnp.exe"],
  ["\u2066a\u2069b", "⟦U+2066⟧a⟦U+2069⟧b"],
  ["ad\u200Bmin\uFEFF", "ad⟦U+200B⟧min⟦U+FEFF⟧"],
  ["read\u200Dfile", "read⟦U+200D⟧file"],
  ["soft\u00ADhyphen", "soft⟦U+00AD⟧hyphen"],
])("what nobody sees in a name is told: %j", (name, shown) => {
  expect(visible(name)).toBe(shown);
});

it.each(["plain name", "שלום", "日本語", "👩‍💻", "👩🏽‍🚀", "❤️‍🔥", ""])(
  "other names stay as they are: %j",
  (name) => {
    expect(visible(name)).toBe(name);
  },
);
