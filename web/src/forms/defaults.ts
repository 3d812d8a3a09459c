// What a form starts with.
import { getDefaultFormState, type RJSFSchema } from "@rjsf/utils";
import type { Schema } from "./schema";
import { validator } from "./validator";

// Keeps defaults and constants, picks no option by itself and fills no list with empty items.
export const DEFAULTS = {
  constAsDefaults: "skipOneOf",
  arrayMinItems: { populate: "never" },
} as const;

/** The schema's own defaults. */
export function initialValue(prepared: Schema): unknown {
  const schema = prepared as RJSFSchema;
  return getDefaultFormState(validator, schema, undefined, schema, false, DEFAULTS) ?? {};
}
