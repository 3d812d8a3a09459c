// What is typed in a field and is no value yet: kept beside the arguments, so that it survives the
// switch to JSON and a reload. It counts as long as the arguments hold nothing at its place.
import { createContext, useContext } from "react";
import { truncate } from "../values/format";
import { type Finding, partsOf } from "./validate";

export type PartialInputs = Readonly<Record<string, string>>;

interface Keeper {
  inputs: PartialInputs;
  keep(pointer: string, text: string | null): void;
}

export const PartialInputContext = createContext<Keeper>({ inputs: {}, keep: () => undefined });

export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

export function usePartialInput(
  path: readonly (string | number)[],
  value: unknown,
): [string | null, (text: string | null) => void] {
  const { inputs, keep } = useContext(PartialInputContext);
  const pointer = pointerOf(path);
  // An item of a list cannot be left out, so it is null meanwhile.
  const text = value == null && Object.hasOwn(inputs, pointer) ? inputs[pointer] : undefined;
  return [text ?? null, (next) => keep(pointer, next)];
}

/** Whether a field can stand at this place and hold nothing. */
function isEmptyAt(value: unknown, parts: string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return value == null;
  const isIndex = /^\d+$/.test(part);
  // An object comes with its first field, the item of a list only with the list.
  if (value == null) return !isIndex && isEmptyAt(undefined, rest);
  if (typeof value !== "object") return false;
  if (Array.isArray(value) && !(isIndex && Number(part) < value.length)) return false;
  const inner = Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined;
  return isEmptyAt(inner, rest);
}

/** What stands in fields of the form and would not be sent with this value. */
export const partialInputFindings = (inputs: PartialInputs, value: unknown): Finding[] =>
  Object.entries(inputs)
    .filter(([pointer, text]) => text.trim() !== "" && isEmptyAt(value, partsOf(pointer)))
    .map(([pointer, text]) => ({
      pointer,
      message: `“${truncate(text, 40)}” is no value that the form can send. It is left out.`,
    }));
