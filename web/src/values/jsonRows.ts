// A JSON value as the rows of a tree: only what is open is walked. Pure.
import { ExactNumber } from "./exactJson";

export interface JsonRow {
  /** JSON pointer; the key of the row. */
  pointer: string;
  depth: number;
  name: string | null;
  value: unknown;
  /** Number of children; -1 for what is no container. */
  size: number;
  isOpen: boolean;
}

// Past this, the element that holds the rows would be taller than browsers allow.
export const MOST_ROWS = 1_200_000;

export const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof ExactNumber);
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

export function childPointer(pointer: string, name: string | number): string {
  return `${pointer}/${typeof name === "number" ? name : escaped(name)}`;
}

/** All rows that are visible when `open` pointers are open. */
export function rowsOf(root: unknown, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const walk = (value: unknown, pointer: string, name: string | null, depth: number): void => {
    if (rows.length >= MOST_ROWS) return;
    if (!isContainer(value)) {
      rows.push({ pointer, depth, name, value, size: -1, isOpen: false });
      return;
    }
    const isOpen = open.has(pointer);
    const names = Array.isArray(value) ? null : Object.keys(value);
    rows.push({
      pointer,
      depth,
      name,
      value,
      size: names ? names.length : (value as unknown[]).length,
      isOpen,
    });
    if (!isOpen) return;
    if (names) {
      for (const key of names)
        walk((value as Record<string, unknown>)[key], childPointer(pointer, key), key, depth + 1);
    } else {
      (value as unknown[]).forEach((child, index) => {
        walk(child, childPointer(pointer, index), String(index), depth + 1);
      });
    }
  };
  walk(root, "", null, 0);
  return rows;
}

/** Whether there are more values in it than this, itself counted; no more of it is walked. */
export function hasMoreThan(root: unknown, most: number): boolean {
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

/** Pointers to open at first: as deep as fits about `budget` rows, and whatever stands alone. */
export function openAtFirst(root: unknown, budget: number): Set<string> {
  const open = new Set<string>();
  let level: [unknown, string][] = [[root, ""]];
  let rows = 1;
  while (level.length) {
    const next: [unknown, string][] = [];
    const isAlone = level.length === 1;
    for (const [value, pointer] of level) {
      if (!isContainer(value)) continue;
      const isArray = Array.isArray(value);
      const names: (string | number)[] = isArray ? [...value.keys()] : Object.keys(value);
      if (rows + names.length > budget && !isAlone) return open;
      open.add(pointer);
      rows += names.length;
      if (rows > budget) return open;
      for (const name of names) {
        next.push([(value as Record<string | number, unknown>)[name], childPointer(pointer, name)]);
      }
    }
    level = next;
  }
  return open;
}

/** What a person opened (true) or closed, by its pointer. */
export type Toggled = ReadonlyMap<string, boolean>;

/** What is open at first, but for what a person decided. */
export function withToggled(atFirst: ReadonlySet<string>, toggled: Toggled): ReadonlySet<string> {
  if (toggled.size === 0) return atFirst;
  const open = new Set(atFirst);
  for (const [pointer, isOpen] of toggled) {
    if (isOpen) open.add(pointer);
    else open.delete(pointer);
  }
  return open;
}

// Nobody steps through more.
export const MOST_FOUND = 1000;

/** How often something was found, in words. */
export const foundWords = (count: number): string =>
  count > MOST_FOUND ? `${MOST_FOUND}+ found` : `${count} found`;

/** The pointers of values and names that contain the text; one more than the most if there are. */
export function findIn(root: unknown, text: string, most = MOST_FOUND + 1): string[] {
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

/** The pointers of all containers above this one. */
export function above(pointer: string): string[] {
  const parts = pointer.split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
