// Whether a text can be parsed as Markdown in a moment. A parser of Markdown goes back and forth in
// what never closes and in what is nested without end; a server could make it run for minutes.

// What opens or closes something within a line.
const DELIMITERS = /[[\]*_`~<&!]/g;
// Lines that begin a text of their own: items, rows, headings, quotes.
const STARTS = /^\s*(?:[-*+|#>]|\d{1,9}[.)])/;
const FENCE = /^\s*(?:```|~~~)/;
// Containers around a line: quotes and items.
const CONTAINERS = /^(?:\s{0,9}(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))+/;

const DEEPEST = 24;
const MOST_BLANK = 200;
// Length times delimiters: ten thousand characters with two thousand of them.
const COSTLIEST_PART = 20_000_000;
const COSTLIEST = 60_000_000;

const depthOf = (line: string): number => {
  const around = CONTAINERS.exec(line.slice(0, DEEPEST * 12))?.[0] ?? "";
  return around.match(/>|[-*+]|\d+[.)]/g)?.length ?? 0;
};

export function isEasyMarkdown(text: string): boolean {
  let total = 0;
  let length = 0;
  let delimiters = 0;
  let blank = 0;
  let isCode = false;
  const isTooMuch = (): boolean => {
    const cost = length * delimiters;
    total += cost;
    length = 0;
    delimiters = 0;
    return cost > COSTLIEST_PART || total > COSTLIEST;
  };
  for (const line of text.split("\n")) {
    const isBlank = line.trim() === "";
    blank = isBlank ? blank + 1 : 0;
    if (blank > MOST_BLANK || depthOf(line) > DEEPEST) return false;
    if (FENCE.test(line)) isCode = !isCode;
    if ((isBlank || isCode || STARTS.test(line)) && isTooMuch()) return false;
    if (isCode) continue;
    length += line.length + 1;
    delimiters += line.match(DELIMITERS)?.length ?? 0;
  }
  return !isTooMuch();
}
