// Splits a long text into rows and finds matches, as positions, so that nothing is copied.

// A line longer than this is shown in pieces, however wide its box.
export const MAX_COLUMNS = 4000;
// Narrower rows would not be readable.
const NARROWEST = 10;
// The browser's default.
const TAB = 8;
// More matches than anybody steps through.
export const MAX_MATCHES = 100_000;

/** How many characters of this width fit into the box; MAX_COLUMNS if unknown. */
export const columnsIn = (box: number, character: number): number =>
  box > 0 && character > 0
    ? Math.min(MAX_COLUMNS, Math.max(NARROWEST, Math.floor(box / character)))
    : MAX_COLUMNS;

/** Whether a character is double-width (CJK); an emoji has two code units anyway. */
const isWide = (code: number): boolean =>
  code >= 0x1100 &&
  (code <= 0x115f ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff01 && code <= 0xff60));

const isSecondHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Where a row of this width that begins at `start` is full; `end` if it never is. */
function fullAt(text: string, start: number, end: number, width: number): number {
  let column = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    column += code === 9 ? TAB - (column % TAB) : isWide(code) ? 2 : 1;
    if (column > width && at > start) return isSecondHalf(code) ? at - 1 : at;
  }
  return end;
}

/** Where each row begins; each ends where the next begins, without its line break. */
export function rowStarts(text: string, width = MAX_COLUMNS): number[] {
  const starts: number[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf("\n", at);
    const last = end < 0 ? text.length : end;
    starts.push(at);
    // A line that fits even if it were all tabs need not be looked at.
    for (let piece = at; (last - piece) * TAB > width; ) {
      piece = fullAt(text, piece, last, width);
      if (piece < last) starts.push(piece);
    }
    if (end < 0) return starts;
    at = end + 1;
  }
}

/** Whether the row that begins here goes on with the line of the row above. */
export const isContinued = (text: string, start: number): boolean =>
  start > 0 && text[start - 1] !== "\n";

/** The text of a row, and where it begins. */
export function rowAt(text: string, starts: number[], row: number): { start: number; end: number } {
  const start = starts[row] ?? text.length;
  const next = starts[row + 1] ?? text.length + 1;
  return { start, end: text[next - 1] === "\n" || next > text.length ? next - 1 : next };
}

/** The index of the last value that is not above this one; -1 if all are. */
export function lastIndexAtMost(sorted: number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Positions of a text, ignoring case; at most MAX_MATCHES. */
export function findAll(text: string, needle: string): number[] {
  const places: number[] = [];
  const pattern = new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    places.push(found.index);
    if (places.length >= MAX_MATCHES) break;
  }
  return places;
}

interface TextPiece {
  text: string;
  /** Index of the match; -1 for text between matches. */
  match: number;
  start: number;
}

/** The text from `start` to `end`, cut at the matches in it. */
export function splitAtMatches(
  text: string,
  start: number,
  end: number,
  places: number[],
  length: number,
): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = start;
  // A match that began in the row before may reach into this one.
  let match = Math.max(0, lastIndexAtMost(places, start - length) + 1);
  for (; match < places.length; match += 1) {
    const from = Math.max(at, places[match] ?? 0);
    const to = Math.min(end, (places[match] ?? 0) + length);
    if (from >= end) break;
    if (from > at) pieces.push({ text: text.slice(at, from), match: -1, start: at });
    pieces.push({ text: text.slice(from, to), match, start: from });
    at = to;
  }
  if (at < end) pieces.push({ text: text.slice(at, end), match: -1, start: at });
  return pieces;
}
