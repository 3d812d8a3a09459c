// Which language a text is in, and its tokens cut into spans. The tokens come from Lezer's parsers
// (components/highlighters.ts), which are loaded when a text needs them.

export type Language = "json" | "xml" | "yaml" | "python" | "script";
export type Kind = "comment" | "key" | "string" | "number" | "word" | "masked" | "byte";
export interface Token {
  start: number;
  end: number;
  kind: Kind;
}

// Larger texts are not highlighted: it would block the page.
export const LARGEST = 200_000;

const FENCES: Record<string, Language> = {
  json: "json",
  jsonc: "json",
  xml: "xml",
  html: "xml",
  svg: "xml",
  yaml: "yaml",
  yml: "yaml",
  python: "python",
  py: "python",
  javascript: "script",
  js: "script",
  jsx: "script",
  typescript: "script",
  ts: "script",
  tsx: "script",
};

/** The language of a fenced block of Markdown, by the word behind its fence. */
export const languageOfFence = (word: string): Language | null =>
  Object.hasOwn(FENCES, word.toLowerCase()) ? (FENCES[word.toLowerCase()] ?? null) : null;

const MIMES: [RegExp, Language][] = [
  [/[/+]json$/, "json"],
  [/[/+](xml|x?html)$|\/xhtml\+xml$/, "xml"],
  [/yaml$/, "yaml"],
  [/python$/, "python"],
  [/(java|ecma|type)script$/, "script"],
];
const ENDINGS: [RegExp, Language][] = [
  [/\.json$/, "json"],
  [/\.(xml|x?html?|svg)$/, "xml"],
  [/\.ya?ml$/, "yaml"],
  [/\.pyi?$/, "python"],
  [/\.[cm]?[jt]sx?$/, "script"],
];

/** The language of a text, by its MIME type, else by how its address ends; null if it is unknown. */
export function languageOf(mime: string | undefined, uri: string | undefined): Language | null {
  const type = (mime?.split(";")[0] ?? "").trim().toLowerCase();
  const path = (uri ?? "").replace(/[?#].*$/s, "").toLowerCase();
  const found =
    MIMES.find(([one]) => one.test(type)) ?? ENDINGS.find(([ending]) => ending.test(path));
  return found?.[1] ?? null;
}

export interface Span {
  start: number;
  text: string;
  kind: Kind | null;
}

function firstWithin(tokens: Token[], start: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The text from `start` to `end`, cut where a token begins or ends. */
export function spansOf(text: string, start: number, end: number, tokens: Token[]): Span[] {
  const spans: Span[] = [];
  let at = start;
  const put = (to: number, kind: Kind | null): void => {
    if (to > at) spans.push({ start: at, text: text.slice(at, to), kind });
    at = Math.max(at, to);
  };
  for (let index = firstWithin(tokens, start); index < tokens.length; index += 1) {
    const token = tokens[index];
    if (!token || token.start >= end) break;
    put(token.start, null);
    put(Math.min(end, token.end), token.kind);
  }
  put(end, null);
  return spans;
}
