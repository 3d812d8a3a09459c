// The colours of both themes pass AA, and no style sheet has sizes or colours of its own.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(process.cwd(), "src");
const sheet = readFileSync(join(SRC, "tokens.css"), "utf8");

/** The variables of the block that begins with this selector. */
function tokensOf(selector: string): Map<string, string> {
  const block = sheet.slice(sheet.indexOf(`${selector} {`)).split("\n}")[0] ?? "";
  return new Map(
    [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}
const light = tokensOf(":root");
const themes = {
  light,
  dark: new Map([...light, ...tokensOf('[data-mantine-color-scheme="dark"]')]),
};

function colour(tokens: Map<string, string>, name: string): number[] {
  const value = tokens.get(name) ?? "";
  const other = /^var\((--[\w-]+)\)$/.exec(value)?.[1];
  if (other) return colour(tokens, other);
  expect(value, name).toMatch(/^#[0-9a-f]{6}$/);
  return [1, 3, 5].map((at) => Number.parseInt(value.slice(at, at + 2), 16) / 255);
}

const luminance = (rgb: number[]): number => {
  const [r = 0, g = 0, b = 0] = rgb.map((one) =>
    one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

function contrast(tokens: Map<string, string>, ink: string, ground: string): number {
  const [a = 0, b = 0] = [ink, ground]
    .map((name) => luminance(colour(tokens, name)))
    .sort((one, other) => other - one);
  return (a + 0.05) / (b + 0.05);
}

const GROUNDS = ["--surface", "--surface-2", "--raised"];
const INKS = [
  ...["--ink", "--ink-2", "--ink-3", "--accent", "--good", "--wait", "--bad", "--attention"],
  ...["--good-ink", "--wait-ink", "--bad-ink", "--out", "--in"],
  ...["--json-key", "--json-string", "--json-number", "--json-word"],
];
const TEXT: [ink: string, ground: string][] = [
  ...INKS.flatMap((ink) => GROUNDS.map((ground): [string, string] => [ink, ground])),
  ...INKS.map((ink): [string, string] => [ink, "--hover"]),
  ...INKS.filter((ink) => ink !== "--ink-3").map((ink): [string, string] => [ink, "--chosen"]),
  ["--chosen-ink", "--chosen"],
  ["--ink-2", "--surface-3"],
  ["--ink", "--surface-3"],
  ["--good-ink", "--good-soft"],
  ["--wait-ink", "--wait-soft"],
  ["--bad-ink", "--bad-soft"],
  ["--attention", "--attention-soft"],
  ...["--good-soft", "--wait-soft", "--bad-soft", "--attention-soft"].flatMap(
    (ground): [string, string][] => [
      ["--ink", ground],
      ["--ink-2", ground],
    ],
  ),
  ["--on-accent", "--accent"],
  ["--on-accent", "--accent-hover"],
  ["--on-bad", "--bad"],
  ["--on-bad", "--bad-ink"],
];
const MARKS = ["--accent", "--good", "--wait", "--bad", "--attention", "--off"];

describe.each(Object.entries(themes))("the %s theme", (_, tokens) => {
  it("has texts that pass AA on every ground they stand on", () => {
    const poor = TEXT.map(([ink, ground]) => ({
      pair: `${ink} on ${ground}`,
      ratio: contrast(tokens, ink, ground),
    })).filter(({ ratio }) => ratio < 4.5);
    expect(poor).toEqual([]);
  });

  it("has marks that can be told from what they stand on", () => {
    const poor = MARKS.flatMap((mark) =>
      GROUNDS.map((ground) => ({
        pair: `${mark} on ${ground}`,
        ratio: contrast(tokens, mark, ground),
      })),
    ).filter(({ ratio }) => ratio < 3);
    expect(poor).toEqual([]);
  });
});

const sheets = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".css") && !/^(tokens|fonts)\.css$/.test(file))
  .map((file): [string, string] => [file, readFileSync(join(SRC, file), "utf8")]);

it.each(sheets)("%s takes its sizes and colours from tokens.css", (_, text) => {
  const own = [
    /#[0-9a-f]{3,8}\b/gi,
    /\b(?:rgb|hsl)a?\([^)]*\)/g,
    /font-size: [\d.]+px/g,
    /border-radius: (?!50%|0)\d+[^;]*/g,
    /box-shadow: (?!none|inset 0|0 0 0)[^v][^;]*/g,
  ].flatMap((pattern) => text.match(pattern) ?? []);
  expect(own).toEqual([]);
  const unknown = [...text.matchAll(/var\((--[\w-]+)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("--mantine-") && !light.has(name))
    .filter((name) => !text.includes(`${name}:`) && name !== "--input-bd-focus");
  expect(unknown).toEqual([]);
});

it.each(sheets)("%s has no faint ink on a tinted ground", (_, text) => {
  const tinted = /background: var\(--(?:\w+-soft|chosen|surface-3)\)/;
  const blocks = text.match(/[^{}]*\{[^{}]*\}/g) ?? [];
  expect(blocks.filter((block) => tinted.test(block) && !block.includes("--ink-3: "))).toEqual([]);
});
