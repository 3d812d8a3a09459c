import { expect, it } from "vitest";
import { withoutAnsi } from "./ansi";

const ESC = "\u001b";

it.each([
  [`${ESC}[31mERROR${ESC}[0m here`, "ERROR here"],
  [`${ESC}[1;38;2;255;0;0mred${ESC}[K${ESC}[?25h`, "red"],
  [`${ESC}]8;;https://example.com${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
  [`${ESC}]0;title\u0007text`, "text"],
  [`${ESC}(B${ESC}7a${ESC}8`, "a"],
  [`cut ${ESC}[3`, "cut "],
  [`cut ${ESC}[3…`, "cut …"],
  ['  File "a.py" [31m of nothing', '  File "a.py" [31m of nothing'],
])("shows %j as %j", (text, shown) => {
  expect(withoutAnsi(text)).toBe(shown);
});
