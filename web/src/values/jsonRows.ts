// A JSON value as the rows of a tree; only expanded nodes are visited.
import { ExactNumber } from "./exactJson";

export interface JsonRow {
  /** JSON pointer; the key of the row. */
  pointer: string;
  depth: number;
  name: string | null;
  value: unknown;
  /** Number of children; -1 for a value that is not a container. */
  size: number;
  isOpen: boolean;
}

// Past this, the element that holds the rows would be taller than browsers allow.
const MOST_ROWS = 1_200_000;

export const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof ExactNumber);
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

function childPointer(pointer: string, name: string | number): string {
  return `${pointer}/${typeof name === "number" ? name : escaped(name)}`;
}

// A container of more than this shows its children in groups, so that expanding it is cheap.
const GROUP = 1000;

const sizeOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

/** The key of the group whose first child is this one; no JSON pointer looks like it. */
const groupPointer = (pointer: string, start: number): string => `${pointer}/~:${start}`;

export const isGroup = (pointer: string): boolean => /\/~:\d+$/.test(pointer);

/** An expanded container; its names, unless it is a list. */
interface Opened {
  value: object;
  names: string[] | null;
  pointer: string;
}

/** The row of a group. Its value is computed only when it is rendered or copied. */
function groupRow({ value, names }: Opened, row: Omit<JsonRow, "value">, start: number): JsonRow {
  return {
    ...row,
    get value(): unknown {
      const end = start + row.size;
      if (!names) return (value as unknown[]).slice(start, end);
      const all = value as Record<string, unknown>;
      return Object.fromEntries(names.slice(start, end).map((name) => [name, all[name]]));
    },
  };
}

class Walk {
  readonly rows: JsonRow[] = [];

  constructor(private readonly open: ReadonlySet<string>) {}

  value(value: unknown, pointer: string, name: string | null, depth: number): void {
    if (this.rows.length >= MOST_ROWS) return;
    if (!isContainer(value)) {
      this.rows.push({ pointer, depth, name, value, size: -1, isOpen: false });
      return;
    }
    const isOpen = this.open.has(pointer);
    const names = Array.isArray(value) ? null : Object.keys(value);
    const size = names ? names.length : (value as unknown[]).length;
    this.rows.push({ pointer, depth, name, value, size, isOpen });
    if (!isOpen) return;
    const opened = { value, names, pointer };
    if (size <= GROUP) this.children(opened, depth + 1, 0, size);
    else
      for (let start = 0; start < size; start += GROUP)
        this.group(opened, depth + 1, start, Math.min(size, start + GROUP));
  }

  private group(opened: Opened, depth: number, start: number, end: number): void {
    const pointer = groupPointer(opened.pointer, start);
    const isOpen = this.open.has(pointer);
    const row = { pointer, depth, name: `${start} … ${end - 1}`, size: end - start, isOpen };
    this.rows.push(groupRow(opened, row, start));
    if (isOpen) this.children(opened, depth + 1, start, end);
  }

  private children({ value, names, pointer }: Opened, depth: number, start: number, end: number) {
    for (let index = start; index < end; index += 1) {
      const name = names ? (names[index] ?? "") : index;
      const child = (value as Record<string | number, unknown>)[name];
      this.value(child, childPointer(pointer, name), String(name), depth);
    }
  }
}

/** All rows that are visible when `open` pointers are open. */
export function rowsOf(root: unknown, open: ReadonlySet<string>): JsonRow[] {
  const walk = new Walk(open);
  walk.value(root, "", null, 0);
  return walk.rows;
}

/** Whether a value holds more values than this, including itself; stops counting there. */
export function hasMoreValuesThan(root: unknown, most: number): boolean {
  let left = most;
  const walk = (value: unknown): boolean => {
    left -= 1;
    if (left < 0) return true;
    if (!isContainer(value)) return false;
    if (Array.isArray(value)) return value.some(walk);
    for (const key in value) if (walk((value as Record<string, unknown>)[key])) return true;
    return false;
  };
  return walk(root);
}

/** Pointers to expand initially: as deep as fits about `budget` rows, and single nodes. */
export function initiallyOpen(root: unknown, budget: number): Set<string> {
  const open = new Set<string>();
  let level: [unknown, string][] = [[root, ""]];
  let rows = 1;
  while (level.length) {
    const next: [unknown, string][] = [];
    const isAlone = level.length === 1;
    for (const [value, pointer] of level) {
      if (!isContainer(value)) continue;
      const size = sizeOf(value);
      if (rows + size > budget && !isAlone) return open;
      open.add(pointer);
      if (size > GROUP) open.add(groupPointer(pointer, 0));
      rows += size;
      if (rows > budget) return open;
      const isArray = Array.isArray(value);
      const names: (string | number)[] = isArray ? [...value.keys()] : Object.keys(value);
      for (const name of names) {
        next.push([(value as Record<string | number, unknown>)[name], childPointer(pointer, name)]);
      }
    }
    level = next;
  }
  return open;
}

// Expanding more at once would take longer than anybody waits for a click.
const MOST_EXPANDED = 20_000;

/** Pointers of a node and of all containers below it, as many as can be expanded at once. */
export function containersBelow(root: unknown, pointer: string): string[] {
  const found: string[] = [];
  const walk = (value: unknown, at: string): void => {
    if (!isContainer(value) || found.length >= MOST_EXPANDED) return;
    found.push(at);
    const names: (string | number)[] = Array.isArray(value)
      ? [...value.keys()]
      : Object.keys(value);
    if (names.length > GROUP)
      for (let start = 0; start < names.length && found.length < MOST_EXPANDED; start += GROUP)
        found.push(groupPointer(at, start));
    for (const name of names)
      walk((value as Record<string | number, unknown>)[name], childPointer(at, name));
  };
  walk(root, pointer);
  return found;
}

/** Nodes that the user expanded (true) or collapsed, by pointer. */
export type ToggledNodes = ReadonlyMap<string, boolean>;

/** The initially expanded nodes with the user's changes applied. */
export function withToggled(
  atFirst: ReadonlySet<string>,
  toggled: ToggledNodes,
): ReadonlySet<string> {
  if (toggled.size === 0) return atFirst;
  const open = new Set(atFirst);
  for (const [pointer, isOpen] of toggled) {
    if (isOpen) open.add(pointer);
    else open.delete(pointer);
  }
  return open;
}

// More than anyone steps through.
export const MAX_MATCHES = 1000;

/**
 * Pointers of values and names that contain the text; one more than the maximum if there are more.
 */
export function findIn(root: unknown, text: string, most = MAX_MATCHES + 1): string[] {
  const needle = text.toLowerCase();
  const found: string[] = [];
  const walk = (value: unknown, pointer: string, name: string): void => {
    if (found.length >= most) return;
    if (name.toLowerCase().includes(needle)) found.push(pointer);
    else if (!isContainer(value) && String(value).toLowerCase().includes(needle))
      found.push(pointer);
    if (!isContainer(value)) return;
    if (Array.isArray(value))
      for (const [index, child] of value.entries()) walk(child, childPointer(pointer, index), "");
    else
      for (const key of Object.keys(value))
        walk((value as Record<string, unknown>)[key], childPointer(pointer, key), key);
  };
  walk(root, "", "");
  return found;
}

/** Pointers of the nodes that have to be expanded to show this one. */
export function ancestorsOf(root: unknown, pointer: string): string[] {
  const open: string[] = [];
  let value = root;
  let at = "";
  for (const part of pointer.split("/").slice(1)) {
    open.push(at);
    if (!isContainer(value)) return open;
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (sizeOf(value) > GROUP) {
      const index = Array.isArray(value) ? Number(name) : Object.keys(value).indexOf(name);
      open.push(groupPointer(at, index - (index % GROUP)));
    }
    value = (value as Record<string, unknown>)[name];
    at = `${at}/${part}`;
  }
  return open;
}
