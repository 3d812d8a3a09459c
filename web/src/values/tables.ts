// Which values are tables: lists of like objects, and CSV. Sorting of their rows.
import { ExactNumber } from "./exactJson";
import { isContainer } from "./jsonRows";

export interface Table {
  columns: string[];
  rows: readonly unknown[];
  cell(row: unknown, column: number): unknown;
}

// Objects are alike if these agree; a list of a million need not be read to see that.
const SAMPLED = 100;
const MOST_COLUMNS = 40;
// How much of all columns an object has on average.
const LIKENESS = 0.6;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  isContainer(value) && !Array.isArray(value);

/** A list of like objects as a table; null for any other value. */
export function tableOf(value: unknown): Table | null {
  if (!Array.isArray(value) || value.length < 2) return null;
  const sample: unknown[] = value.slice(0, SAMPLED);
  if (!sample.every(isRecord)) return null;
  const columns = new Set<string>();
  let filled = 0;
  for (const row of sample as Record<string, unknown>[])
    for (const name of Object.keys(row)) {
      columns.add(name);
      filled += 1;
      if (columns.size > MOST_COLUMNS) return null;
    }
  if (columns.size < 2 || filled < columns.size * sample.length * LIKENESS) return null;
  const names = [...columns];
  return {
    columns: names,
    rows: value,
    cell: (row, column) => (isRecord(row) ? row[names[column] ?? ""] : undefined),
  };
}

/** The pointer of the table that a value mainly is: the value itself, or its only list. */
export function mainTable(value: unknown): string | null {
  if (tableOf(value)) return "";
  if (!isRecord(value)) return null;
  const lists = Object.entries(value).filter(([, one]) => Array.isArray(one));
  const [only] = lists;
  if (lists.length !== 1 || !only || !tableOf(only[1])) return null;
  return `/${only[0].replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The value at a pointer; undefined if there is none. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split("/").slice(1)) {
    if (!isContainer(value)) return undefined;
    value = (value as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}

/** Rows of cells (RFC 4180); quotes may hold separators, line breaks and doubled quotes. */
export function parseCsv(text: string, separator: "," | ";" | "\t"): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= text.length) {
    let cell: string;
    if (text[at] === '"') {
      let end = text.indexOf('"', at + 1);
      while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
      const last = end < 0 ? text.length : end;
      cell = text.slice(at + 1, last).replaceAll('""', '"');
      at = last + 1;
      // What follows a closing quote belongs to the cell, however odd.
      const start = at;
      while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r")
        at += 1;
      cell += text.slice(start, at);
    } else {
      const start = at;
      while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r")
        at += 1;
      cell = text.slice(start, at);
    }
    row.push(cell);
    if (text[at] === separator) {
      at += 1;
      continue;
    }
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
  }
  return rows;
}

const SEPARATORS = [",", ";", "\t"] as const;

/** A text of separated values as a table, its first line as heads; null if it has just one column. */
export function csvTable(text: string): Table | null {
  const head = text.slice(0, Math.max(0, text.indexOf("\n")) || text.length);
  const separator = SEPARATORS.map((one) => ({ one, count: head.split(one).length })).reduce(
    (most, next) => (next.count > most.count ? next : most),
  ).one;
  const [columns, ...rows] = parseCsv(text, separator);
  if (!columns || columns.length < 2) return null;
  return { columns, rows, cell: (row, column) => (row as string[])[column] };
}

const numberIn = (value: unknown): number | null => {
  if (typeof value === "number") return value;
  if (value instanceof ExactNumber) return value.valueOf();
  if (typeof value !== "string" || value.trim() === "") return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
};

const wordOf = (value: unknown): string =>
  isContainer(value) ? JSON.stringify(value) : String(value);

/** The order of two cells: numbers by size, then texts as people sort them, then what is missing. */
export function compareCells(one: unknown, other: unknown): number {
  const [isNone, isOtherNone] = [one == null || one === "", other == null || other === ""];
  if (isNone || isOtherNone) return Number(isNone) - Number(isOtherNone);
  const [a, b] = [numberIn(one), numberIn(other)];
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a !== null ? -1 : 1;
  return COLLATOR.compare(wordOf(one), wordOf(other));
}
const COLLATOR = new Intl.Collator("en", { numeric: true });

export interface Order {
  column: number;
  isDown: boolean;
}

/** The indexes of the rows in this order; rows with an empty cell are last either way. */
export function sortedRows(table: Table, order: Order | null): number[] {
  const indexes = Array.from({ length: table.rows.length }, (_, index) => index);
  if (!order) return indexes;
  const cells = table.rows.map((row) => table.cell(row, order.column));
  const isNone = (index: number): boolean => cells[index] == null || cells[index] === "";
  return indexes.sort((a, b) => {
    if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b)) || a - b;
    const found = compareCells(cells[a], cells[b]);
    return (order.isDown ? -found : found) || a - b;
  });
}
