// A long text as rows, and what is found in it: as places in the text, so that nothing is copied.
// Pure.

// A line longer than this is shown in pieces.
export const WIDEST = 4000;
// More matches than anybody steps through.
export const MOST_FOUND = 100_000;

/** Where each row begins; each ends where the next begins, without its line break. */
export function rowStarts(text: string): number[] {
  const starts: number[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf("\n", at);
    const last = end < 0 ? text.length : end;
    starts.push(at);
    for (let piece = at + WIDEST; piece < last; piece += WIDEST) starts.push(piece);
    if (end < 0) return starts;
    at = end + 1;
  }
}

/** The text of a row, and where it begins. */
export function rowAt(text: string, starts: number[], row: number): { start: number; end: number } {
  const start = starts[row] ?? text.length;
  const next = starts[row + 1] ?? text.length + 1;
  return { start, end: text[next - 1] === "\n" || next > text.length ? next - 1 : next };
}

/** The index of the last value that is not above this one; -1 if all are. */
export function lastNotAbove(sorted: number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where the text stands, in either case; at most MOST_FOUND places. */
export function findAll(text: string, needle: string): number[] {
  const places: number[] = [];
  const pattern = new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    places.push(found.index);
    if (places.length >= MOST_FOUND) break;
  }
  return places;
}

export interface Piece {
  text: string;
  /** Which match this is of; -1 for what lies between. */
  match: number;
  start: number;
}

/** The text from `start` to `end`, cut at the matches in it. */
export function piecesOf(
  text: string,
  start: number,
  end: number,
  places: number[],
  length: number,
): Piece[] {
  const pieces: Piece[] = [];
  let at = start;
  // A match that began in the row before may reach into this one.
  let match = Math.max(0, lastNotAbove(places, start - length) + 1);
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
