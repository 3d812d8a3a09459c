// Findings that a field of the form says already, and those that none does.
import type { FormPlan } from "./formSchema";
import { isSchema, JSON_FIELD } from "./schema";
import { type Finding, partsOf } from "./validate";

const SCALARS = new Set<unknown>(["string", "number", "integer", "boolean"]);
// What is drawn for these depends on the value.
const UNIONS = ["anyOf", "oneOf", "allOf", "$ref", "if"];

/** Whether a field of one value stands for this place of the arguments. */
function hasField(schema: unknown, [name, ...rest]: readonly (string | number)[]): boolean {
  if (!isSchema(schema) || UNIONS.some((key) => schema[key] !== undefined)) return false;
  if (name === undefined) return SCALARS.has(schema.type) && schema.$id !== JSON_FIELD;
  const { properties } = schema;
  const known = isSchema(properties) ? properties : {};
  return Object.hasOwn(known, name) && hasField(known[name], rest);
}

/** Those findings that no field says. */
export const withoutField = (plan: FormPlan, findings: Finding[]): Finding[] =>
  plan.kind === "form"
    ? findings.filter(({ pointer }) => !hasField(plan.schema, partsOf(pointer)))
    : findings;
