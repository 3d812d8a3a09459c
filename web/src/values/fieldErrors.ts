// What is wrong with single fields, as the backend says it: `fields` of an error's details.
import type { ErrorView } from "../api/types";

/** Texts by the key of their field. */
export type FieldErrors = ReadonlyMap<string, string>;

export function fieldErrorsOf(error: ErrorView): FieldErrors {
  const { fields } = error.details;
  const found = new Map<string, string>();
  if (Array.isArray(fields))
    for (const one of fields as { key?: unknown; text?: unknown }[])
      if (typeof one?.key === "string" && typeof one.text === "string")
        found.set(one.key, found.has(one.key) ? `${found.get(one.key)}; ${one.text}` : one.text);
  return found;
}
