// A value in one line: what a folded object or a cell of a table shows of it.
import { ExactNumber } from "./exactJson";
import { truncate } from "./format";
import { isContainer } from "./jsonRows";

const LONGEST_STRING = 32;
// Objects inside of objects inside of objects say nothing in a line.
const DEEPEST = 2;

function scalar(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== "string") return String(value);
  // Do not escape megabytes to show a few characters.
  return truncate(JSON.stringify(value.slice(0, LONGEST_STRING * 2)), LONGEST_STRING);
}

function write(value: unknown, budget: number, depth: number): string {
  if (!isContainer(value)) return scalar(value);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let left = budget - 2;
  for (const name in value) {
    const inner =
      depth === 0 ? "…" : write((value as Record<string, unknown>)[name], left, depth - 1);
    const part = depth === 0 || isList ? inner : `${name}: ${inner}`;
    // The first is always shown; what follows only if it fits.
    if (parts.length > 0 && part.length > left) {
      parts.push("…");
      break;
    }
    parts.push(part);
    left -= part.length + 2;
    if (depth === 0) break;
  }
  return isList ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
}

/** A value in about this many characters: `{id: 0, name: "user 0", …}`. */
export const previewOf = (value: unknown, budget = 80): string => write(value, budget, DEEPEST);
