// Size of a tool's definition, which is part of every prompt of a model.
import type { Item } from "../../state/items";
import { pluralize } from "../../values/format";
import type { Tool } from "./toolHints";

// Rule of thumb for English and JSON with current tokenizers.
const CHARACTERS_PER_TOKEN = 4;

// Cached, since long lists render often.
const sizes = new WeakMap<Tool, number>();

function lengthOf(value: object): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    // Nested too deeply to serialize.
    return 0;
  }
}

/** Characters of what a model is told of a tool: name, description and input schema as JSON. */
export function sizeOf(tool: Tool): number {
  let size = sizes.get(tool);
  if (size === undefined) {
    const { name, description, inputSchema } = tool;
    size = lengthOf({ name, description, inputSchema });
    sizes.set(tool, size);
  }
  return size;
}

export const sizeOfAll = (items: Item<Tool>[]): number =>
  items.reduce((sum, item) => sum + sizeOf(item.value), 0);

/** Estimated number of tokens as text. */
export const tokenEstimate = (characters: number): string =>
  `about ${pluralize(Math.ceil(characters / CHARACTERS_PER_TOKEN), "token")}`;

export const biggestFirst = (items: Item<Tool>[]): Item<Tool>[] =>
  [...items].sort((one, other) => sizeOf(other.value) - sizeOf(one.value));
