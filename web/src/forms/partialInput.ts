// Input that is not a valid value yet: kept beside the arguments, so that it survives switching to
// JSON and a reload. It applies while the arguments have no value at its path.
import { createContext, useContext } from "react";
import { truncate } from "../values/format";
import { parseJson, pretty } from "../values/json";
import { withValueAt } from "./formValue";
import { lossyNumber } from "./numbers";
import { inSchemaOrder } from "./propertyOrder";
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

const isUnsent = (pointer: string, text: string, value: unknown): boolean =>
  text.trim() !== "" && isEmptyAt(value, partsOf(pointer));

/** Findings about partial input. Its field says the same, so that no list has to. */
export const partialInputFindings = (inputs: PartialInputs, value: unknown): Finding[] =>
  Object.entries(inputs)
    .filter(([pointer, text]) => isUnsent(pointer, text, value))
    .map(([pointer, text]) => ({
      pointer,
      message: `“${truncate(text, 40)}” is not a value that the form can send.`,
      isAtField: true,
    }));

/** The path of a pointer; only items of lists have numbers. */
function pathIn(value: unknown, pointer: string): (string | number)[] {
  let inner = value;
  return partsOf(pointer).map((part) => {
    const key = Array.isArray(inner) ? Number(part) : part;
    inner = (inner as Record<string | number, unknown> | null | undefined)?.[key];
    return key;
  });
}

// A number that a form would round is sent with all its digits, anything else as text.
const literalOf = (text: string): string =>
  parseJson(text).ok && lossyNumber(text) !== null ? text.trim() : JSON.stringify(text);

/**
 * The arguments with partial input as it was typed, in the order of the form's schema: for a server
 * that is to refuse it.
 */
export function withPartialInputs(text: string, inputs: PartialInputs, schema: unknown): string {
  const parsed = parseJson(text);
  if (!parsed.ok) return text;
  const unsent = Object.entries(inputs).filter(([at, typed]) => isUnsent(at, typed, parsed.value));
  if (unsent.length === 0) return text;
  const mark = crypto.randomUUID();
  const marked = unsent.reduce(
    (value, [pointer], at) => withValueAt(value, pathIn(value, pointer), `${mark} ${at}`),
    parsed.value,
  );
  return unsent.reduce(
    (json, [, typed], at) => json.replace(`"${mark} ${at}"`, () => literalOf(typed)),
    pretty(inSchemaOrder(schema, marked)),
  );
}

const valueAt = (value: unknown, path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<string | number, unknown> | null | undefined)?.[key],
    value,
  );

/** The arguments without partial input that is still as it was typed: fields show it again. */
export function withoutPartialInputs(text: string, inputs: PartialInputs): string {
  const parsed = parseJson(text);
  if (!parsed.ok) return text;
  const kept = Object.entries(inputs).filter(([pointer, typed]) => {
    const value = valueAt(parsed.value, pathIn(parsed.value, pointer));
    const literal = literalOf(typed);
    // Rounded, two numbers may be equal that are not: the digits must be there too.
    return value != null && text.includes(literal) && pretty(value) === pretty(JSON.parse(literal));
  });
  if (kept.length === 0) return text;
  const rest = kept.reduce(
    (value, [pointer]) => withValueAt(value, pathIn(value, pointer), undefined),
    parsed.value,
  );
  return pretty(rest);
}
