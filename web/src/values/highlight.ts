// Syntax highlighting with one pattern per language: good enough for reading, not a parser.

export type Language = "json" | "xml" | "yaml" | "python" | "script";
export type Kind = "comment" | "key" | "string" | "number" | "word" | "masked" | "byte";
export interface Token {
  start: number;
  end: number;
  kind: Kind;
}

// Larger texts are not highlighted: it would block the page.
export const LARGEST = 200_000;

const END = "$(?![^])";
const NUMBER = String.raw`(?<number>(?<![\w.])-?(?:0x[\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]))`;
const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const word = (words: string): string =>
  String.raw`(?<word>(?<![\w.-])(?:${words.replaceAll(" ", "|")})(?![\w-]))`;
const pattern = (...parts: string[]): RegExp => new RegExp(parts.join("|"), "gm");

const PYTHON =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case";
const SCRIPT =
  "async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of return static super switch this throw true try type typeof undefined var void while yield";

const PATTERNS: Record<Language, RegExp> = {
  json: pattern(
    String.raw`(?<key>"(?:[^"\\\n]|\\.)*"(?=\s*:))`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*")`,
    NUMBER,
    word("true false null"),
  ),
  xml: pattern(
    `(?<comment><!--[^]*?(?:-->|${END}))`,
    String.raw`(?<string><!\[CDATA\[[^]*?(?:\]\]>|${END}))`,
    String.raw`(?<tag><[\w!?/][^<>]*>)`,
    String.raw`(?<word>&#?\w+;)`,
  ),
  yaml: pattern(
    String.raw`(?<comment>(?<![^\s])#.*)`,
    String.raw`(?<key>(?=[^\s#:,"'{}[\]-])(?<=^[ \t]*(?:- )*)[^\n:#"'{}[\]]*(?=:(?:\s|$)))`,
    String.raw`(?<string>(?<!\w)(?:${STRING}))`,
    NUMBER,
    word("true false null yes no on off"),
  ),
  python: pattern(
    "(?<comment>#.*)",
    `(?<string>[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|${END})|'''[^]*?(?:'''|${END})|${STRING}))`,
    NUMBER,
    word(PYTHON),
  ),
  script: pattern(
    String.raw`(?<comment>//.*|/\*[^]*?(?:\*/|${END}))`,
    `(?<string>${STRING}|${String.raw`\`(?:[^\`\\]|\\[^])*(?:\`|${END})`})`,
    NUMBER,
    word(SCRIPT),
  ),
};
const IN_TAG = pattern(
  String.raw`(?<word>^<[!?/]?[\w:.-]*|[/?]?>$)`,
  `(?<string>"[^"]*"|'[^']*')`,
  String.raw`(?<key>(?<![\w:.@-])[\w:.@-]+(?=\s*=))`,
);

function tokensBy(regExp: RegExp, text: string, from: number, found: Token[]): Token[] {
  for (const match of text.matchAll(regExp)) {
    const [name] = Object.entries(match.groups ?? {}).find(([, one]) => one !== undefined) ?? [];
    const start = from + match.index;
    if (name === "tag") tokensBy(IN_TAG, match[0], start, found);
    else if (name && match[0])
      found.push({ start, end: start + match[0].length, kind: name as Kind });
  }
  return found;
}

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

/** The tokens to highlight, in order. */
export const tokensOf = (text: string, language: Language | null): Token[] =>
  language === null || text.length > LARGEST ? [] : tokensBy(PATTERNS[language], text, 0, []);

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
