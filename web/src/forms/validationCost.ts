// Whether validating with a schema would freeze the page: references that multiply tenfold over a
// dozen levels are 10^12 checks.

import { isSchema, type Schema } from "./schema";
import { resolveRef } from "./schemaRefs";

// A usual schema needs some hundreds.
const MOST_CHECKS = 20_000;

const known = new WeakMap<object, boolean>();

/** The subschemas that apply to the same value. */
function besides(root: unknown, schema: Schema): unknown[] {
  const { $ref, allOf, anyOf, oneOf, dependentSchemas, dependencies } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const maps = [dependentSchemas, dependencies].filter(isSchema).flatMap(Object.values);
  const target = typeof $ref === "string" ? [resolveRef(root, $ref)] : [];
  return [...target, ...lists, ...maps, schema.not, schema.if, schema.then, schema.else];
}

function measure(root: object): boolean {
  const costs = new Map<object, number>();
  const costOf = (schema: unknown): number => {
    if (!isSchema(schema)) return 0;
    const cost = costs.get(schema);
    if (cost !== undefined) return cost;
    // Recursion on the same value is refused by the validator.
    costs.set(schema, 0);
    const total = besides(root, schema).reduce((sum: number, one) => sum + costOf(one), 1);
    costs.set(schema, total);
    return total;
  };
  const seen = new Set<object>();
  const left: unknown[] = [root];
  while (left.length) {
    const one = left.pop();
    if (typeof one !== "object" || one === null || seen.has(one)) continue;
    seen.add(one);
    if (costOf(one) > MOST_CHECKS) return true;
    for (const value of Object.values(one)) left.push(value);
  }
  return false;
}

export function isTooCostlyToValidate(schema: unknown): boolean {
  if (!isSchema(schema)) return false;
  const found = known.get(schema);
  if (found !== undefined) return found;
  const is = measure(schema);
  known.set(schema, is);
  return is;
}
