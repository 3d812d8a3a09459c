// Changing a setting, and what somebody typed for one.

import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { parseJson } from "../../values/json";

/** Write it into the file; null takes it out. */
export const changeSetting = (name: string, value: unknown): void =>
  void withErrorToast("The setting was not changed", command("SetSetting", { name, value }));

export const isSameValue = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export type TypedValue = { value: unknown } | { problem: string };

/** The number that was typed. An emptied field is none, and no 0 either. */
export function parseNumber(text: string): TypedValue {
  const value = Number(text);
  if (text.trim() === "") return { problem: "Give a number, or reset it." };
  return Number.isFinite(value) ? { value } : { problem: "This is no number." };
}

/** The names that were typed, one in a line. */
export const parseNames = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** The JSON object that was typed. */
export function parseObject(text: string): TypedValue {
  const parsed = parseJson(text);
  if (!parsed.ok) return { problem: `This is not JSON: ${parsed.problem}` };
  const { value } = parsed;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { value } : { problem: "An object is needed." };
}
