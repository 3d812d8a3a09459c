// What a form starts with.
import { getDefaultFormState, type RJSFSchema } from "@rjsf/utils";
import { validator } from "./rjsfValidator";
import { isSchema, type Schema } from "./schema";

// Keeps defaults and constants, picks no option by itself and fills no list with empty items.
export const DEFAULTS = {
  constAsDefaults: "skipOneOf",
  arrayMinItems: { populate: "never" },
} as const;

/** With the defaults that are null, which the library leaves out where an object may be. */
function withNulls({ properties }: Schema, value: unknown): unknown {
  if (!isSchema(properties) || !isSchema(value)) return value;
  const next = { ...value };
  for (const [name, child] of Object.entries(properties)) {
    if (!isSchema(child)) continue;
    if (child.default === null) next[name] = null;
    else if (Object.hasOwn(next, name)) next[name] = withNulls(child, next[name]);
  }
  return next;
}

/** The schema's own defaults. */
export function initialValue(prepared: Schema): unknown {
  const schema = prepared as RJSFSchema;
  const initial = getDefaultFormState(validator, schema, undefined, schema, false, DEFAULTS) ?? {};
  return withNulls(prepared, initial);
}
