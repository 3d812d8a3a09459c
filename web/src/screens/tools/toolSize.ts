// What a tool costs a model that is offered it: its definition is part of every prompt.
import type { Item } from "../../state/items";
import { pluralize } from "../../values/format";
import type { Tool } from "./toolHints";

// As English and JSON come out with the tokenizers in use: a rule of thumb, not a count.
const CHARACTERS_PER_TOKEN = 4;

// Lists of thousands are drawn often, and written out once.
const sizes = new WeakMap<Tool, number>();

function lengthOf(value: object): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    // Nested so deeply that it cannot be written: no model gets it.
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

/** About how many tokens so many characters are, in words. */
export const tokenEstimate = (characters: number): string =>
  `about ${pluralize(Math.ceil(characters / CHARACTERS_PER_TOKEN), "token")}`;

export const biggestFirst = (items: Item<Tool>[]): Item<Tool>[] =>
  [...items].sort((one, other) => sizeOf(other.value) - sizeOf(one.value));
