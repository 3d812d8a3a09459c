// Initial value of a form.
import { getDefaultFormState, type RJSFSchema } from "@rjsf/utils";
import { validator } from "./rjsfValidator";
import { isSchema, type Schema } from "./schema";

// Keeps defaults and constants, but preselects no option and adds no empty list items.
export const DEFAULTS = {
  constAsDefaults: "skipOneOf",
  arrayMinItems: { populate: "never" },
  // A required checkbox has false as its explicit default; left out, it stays left out.
  requiredBooleanDefault: "skip",
} as const;

/** Adds null defaults, which the library omits where an object is allowed. */
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
