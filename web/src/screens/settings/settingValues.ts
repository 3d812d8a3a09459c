// Saves settings, and parses their typed values.

import { command } from "../../state/commands";
import { errorViewOf, withErrorToast } from "../../state/toasts";
import { fieldErrorsOf } from "../../values/fieldErrors";
import { parseJson } from "../../values/json";

/** Save to the file; resolves to why it was refused, for its field, or to null. */
export async function saveSetting(name: string, value: unknown): Promise<string | null> {
  try {
    await command("SetSetting", { name, value });
    return null;
  } catch (thrown) {
    const error = errorViewOf(thrown);
    const texts = [...fieldErrorsOf(error)].map(([key, text]) =>
      key === name ? text : `${key}: ${text}`,
    );
    return `Not saved: ${texts.join("; ") || error.message}`;
  }
}

/** Save to the file where no field can show an error; null removes it. */
export const changeSetting = (name: string, value: unknown): void =>
  void withErrorToast("The setting was not changed", command("SetSetting", { name, value }));

export const isSameValue = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export type TypedValue = { value: unknown } | { problem: string };

/** Parses a number. An empty field is an error, not 0. */
export function parseNumber(text: string): TypedValue {
  const value = Number(text);
  if (text.trim() === "") return { problem: "Enter a number, or reset it." };
  return Number.isFinite(value) ? { value } : { problem: "This is not a number." };
}

/** Parses names, one per line. */
export const parseNames = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Parses a JSON object. */
export function parseObject(text: string): TypedValue {
  const parsed = parseJson(text);
  if (!parsed.ok) return { problem: `This is not JSON: ${parsed.problem}` };
  const { value } = parsed;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? { value } : { problem: "A JSON object is required." };
}
