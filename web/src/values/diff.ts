// Line diff of two texts (Myers), bounded: texts with little in common are shown as replaced
// between their common start and end.

export interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

export interface Diff {
  lines: DiffLine[];
  added: number;
  removed: number;
  /** The texts were truncated. */
  is_cut: boolean;
}

// Maximum of compared lines.
const MOST_LINES = 20_000;
// Maximum of changes; the cost grows with their square.
const MOST_CHANGES = 500;

export function diffOf(before: string, after: string, mostChanges = MOST_CHANGES): Diff {
  const old = before.split("\n");
  const now = after.split("\n");
  const is_cut = old.length > MOST_LINES || now.length > MOST_LINES;
  const lines = diffLines(old.slice(0, MOST_LINES), now.slice(0, MOST_LINES), mostChanges);
  const count = (sign: string): number => lines.filter((line) => line.sign === sign).length;
  return { lines, added: count("+"), removed: count("-"), is_cut };
}

const signed = (sign: DiffLine["sign"], texts: string[]): DiffLine[] =>
  texts.map((text) => ({ sign, text }));

function diffLines(old: string[], now: string[], mostChanges: number): DiffLine[] {
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const oldPart = old.slice(head, old.length - tail);
  const nowPart = now.slice(head, now.length - tail);
  const middle = shortest(oldPart, nowPart, mostChanges) ?? [
    ...signed("-", oldPart),
    ...signed("+", nowPart),
  ];
  return [
    ...signed(" ", old.slice(0, head)),
    ...middle,
    ...signed(" ", old.slice(old.length - tail)),
  ];
}

/** The shortest edit script; null if it exceeds the maximum of changes. */
function shortest(old: string[], now: string[], mostChanges: number): DiffLine[] | null {
  const limit = Math.min(old.length + now.length, mostChanges);
  let furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let changes = 0; changes <= limit; changes += 1) {
    trace.push(furthest);
    const next = new Map<number, number>();
    for (let k = -changes; k <= changes; k += 2) {
      let x = stepFrom(furthest, k, changes);
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
      next.set(k, x);
      if (x >= old.length && x - k >= now.length) return walkBack(trace, old, now);
    }
    furthest = next;
  }
  return null;
}

const isDown = (furthest: Map<number, number>, k: number, changes: number): boolean =>
  k === -changes || (k !== changes && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));

const stepFrom = (furthest: Map<number, number>, k: number, changes: number): number =>
  isDown(furthest, k, changes) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;

function walkBack(trace: Map<number, number>[], old: string[], now: string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = old.length;
  let y = now.length;
  for (let changes = trace.length - 1; changes >= 0; changes -= 1) {
    const furthest = trace[changes] as Map<number, number>;
    const k = x - y;
    const from = isDown(furthest, k, changes) ? k + 1 : k - 1;
    const fromX = changes ? (furthest.get(from) ?? 0) : 0;
    const fromY = changes ? fromX - from : 0;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ sign: " ", text: old[x] ?? "" });
    }
    if (changes && x === fromX) lines.push({ sign: "+", text: now[--y] ?? "" });
    else if (changes) lines.push({ sign: "-", text: old[--x] ?? "" });
  }
  return lines.reverse();
}

export interface Hunk {
  /** Equal lines that are left out before it. */
  skipped: number;
  lines: DiffLine[];
}

/** The changes with some lines around them. */
export function hunksOf(lines: DiffLine[], around = 3): Hunk[] {
  const hunks: Hunk[] = [];
  let end = 0;
  lines.forEach((line, at) => {
    if (line.sign === " ") return;
    const start = Math.max(end, at - around);
    const last = hunks.at(-1);
    const until = Math.min(lines.length, at + around + 1);
    if (last && start <= end) last.lines.push(...lines.slice(end, Math.max(end, until)));
    else hunks.push({ skipped: start - end, lines: lines.slice(start, until) });
    end = Math.max(end, until);
  });
  return hunks;
}
