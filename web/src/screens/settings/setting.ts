// Changing a setting, and what somebody typed for one.

import { telling } from "../../state/actions";
import { command } from "../../state/connection";
import { parseJson } from "../../values/json";

/** Write it into the file; null takes it out. */
export const change = (name: string, value: unknown): void =>
  void telling("The setting was not changed", command("SetSetting", { name, value }));

export const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export type Typed = { value: unknown } | { problem: string };

/** The number that was typed. An emptied field is none, and no 0 either. */
export function typedNumber(text: string): Typed {
  const value = Number(text);
  if (text.trim() === "") return { problem: "Give a number, or reset it." };
  return Number.isFinite(value) ? { value } : { problem: "This is no number." };
}

/** A JSON value of the same kind as the default: an array or an object. */
export function typedJson(text: string, like: unknown): Typed {
  const parsed = parseJson(text);
  if (!parsed.ok) return { problem: `This is not JSON: ${parsed.problem}` };
  const isAlike =
    Array.isArray(parsed.value) === Array.isArray(like) &&
    typeof parsed.value === "object" &&
    parsed.value !== null;
  if (isAlike) return { value: parsed.value };
  return { problem: Array.isArray(like) ? "An array is needed." : "An object is needed." };
}
