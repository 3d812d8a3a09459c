// JSON for display: a number keeps its source text where a JavaScript number would lose some of it
// (digits beyond 2^53, 1.0, 1e400).
import { errorMessage } from "./format";
import type { Parsed } from "./json";

interface Native {
  /** What JSON.stringify writes as it is; browsers since 2025. */
  rawJSON?(text: string): object;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown;
}
const native = JSON as unknown as Native;

/** A number as it was written. */
export class ExactNumber {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
  valueOf(): number {
    return Number(this.text);
  }
  toJSON(): unknown {
    return native.rawJSON ? native.rawJSON(this.text) : Number(this.text);
  }
}

// Numbers whose text may differ from what JavaScript writes. False positives in strings only cost
// time.
const SUSPICIOUS = /[:[,\s](?:-?[\d.]{16,}|-?\d+(?:\.\d*0)(?!\d)|-?\d+(?:\.\d+)?[eE]|-0(?!\d))/;

const exactly = (_: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === "number" && context?.source !== undefined && String(value) !== context.source
    ? new ExactNumber(context.source)
    : value;

/** Parses a text; `isExact` tells whether it may hold numbers that keep their text. */
export function parseExactly(text: string): { value: unknown; isExact: boolean } {
  const isExact = SUSPICIOUS.test(` ${text}`);
  return { value: isExact ? native.parse(text, exactly) : JSON.parse(text), isExact };
}

/** Like parseExactly, for a text that may not be JSON. */
export function tryParseExactly(text: string): Parsed {
  try {
    return { ok: true, value: parseExactly(text).value };
  } catch (thrown) {
    return { ok: false, problem: errorMessage(thrown) };
  }
}

/** Where the string that begins at `start` ends, behind its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

const STRUCTURE = "{}[],:";
const isSpace = (code: number): boolean => code <= 32;

/** Where the token that begins at `start` ends. */
function endOfToken(text: string, start: number): number {
  const first = text[start] ?? "";
  if (first === '"') return endOfString(text, start);
  if (STRUCTURE.includes(first)) return start + 1;
  let at = start + 1;
  while (at < text.length && !isSpace(text.charCodeAt(at)) && !STRUCTURE.includes(text[at] ?? ""))
    at += 1;
  return at;
}

/** A JSON text with line breaks and indents; every token stays as it was written. */
export function indentJson(text: string): string {
  const lines = ["\n"];
  let out = "";
  let depth = 0;
  let before = "";
  for (let at = 0; at < text.length; ) {
    if (isSpace(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    at = end;
    const isEnd = token === "}" || token === "]";
    if (isEnd) depth = Math.max(0, depth - 1);
    const isInside = before === "{" || before === "[";
    if (before === "," || (isInside && !isEnd) || (isEnd && !isInside)) {
      lines[depth] ??= `\n${"  ".repeat(depth)}`;
      out += lines[depth];
    }
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return out;
}
