// Input that is not a valid value yet: kept beside the arguments, so that it survives switching to
// JSON and a reload. It applies while the arguments have no value at its path.
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
  // A list item cannot be omitted, so it is null meanwhile.
  const text = value == null && Object.hasOwn(inputs, pointer) ? inputs[pointer] : undefined;
  return [text ?? null, (next) => keep(pointer, next)];
}

/** Whether there can be an empty field at this path. */
function isEmptyAt(value: unknown, parts: string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return value == null;
  const isIndex = /^\d+$/.test(part);
  // Objects are created with their first field; list items need their list.
  if (value == null) return !isIndex && isEmptyAt(undefined, rest);
  if (typeof value !== "object") return false;
  if (Array.isArray(value) && !(isIndex && Number(part) < value.length)) return false;
  const inner = Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined;
  return isEmptyAt(inner, rest);
}

/** Findings about partial input that would not be sent. */
export const partialInputFindings = (inputs: PartialInputs, value: unknown): Finding[] =>
  Object.entries(inputs)
    .filter(([pointer, text]) => text.trim() !== "" && isEmptyAt(value, partsOf(pointer)))
    .map(([pointer, text]) => ({
      pointer,
      message: `“${truncate(text, 40)}” is not a value that the form can send. It is not sent.`,
    }));
