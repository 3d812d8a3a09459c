// Rewrites of schema parts for the form: JSON fields, nullable types and unions.
import {
  CHOICES,
  isChoices,
  isNull,
  isSchema,
  JSON_FIELD,
  type Schema,
  SUMMARY,
  UNSUPPORTED_PROPERTY,
  VALUE_WHEN_EMPTIED,
} from "./schema";

const COMBINED = ["anyOf", "oneOf", "allOf"];
const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];
// Keywords that describe a value, not only a constraint on it.
const DRAWN = ["type", "properties", "enum", "const", "items", "$ref", ...COMBINED];

// What the form library may run on names: from the start, with one repetition outside of groups.
const ATOM = String.raw`(?:[\w :/@,-]|\\[.\-/dws_$]|\.|\[\^?[\w .:/@,-]+\])`;
const CHEAP = new RegExp(
  String.raw`^(?:\^?${ATOM}*\$?|\^${ATOM}*(?:[*+]|\{\d{1,2}\})${ATOM}*\$?|\.[*+])$`,
);
const LONGEST_CHEAP = 100;

/** Whether the patterns of `patternProperties` take linear time on any name. */
export const hasCheapNames = (patternProperties: unknown): patternProperties is Schema =>
  isSchema(patternProperties) &&
  Object.keys(patternProperties).every((one) => one.length <= LONGEST_CHEAP && CHEAP.test(one));

const has = (schema: Schema, keys: readonly string[]): boolean =>
  keys.some((key) => schema[key] !== undefined);

export function asJsonField(schema: Schema): Schema {
  const { title, description } = schema;
  const initial = schema.default === undefined ? schema.const : schema.default;
  const marked: Schema = { $id: JSON_FIELD };
  if (typeof title === "string") marked.title = title;
  if (typeof description === "string") marked.description = description;
  if (initial !== undefined) marked.default = initial;
  return marked;
}

export function needsJsonField(schema: Schema): boolean {
  const { type } = schema;
  if (type !== undefined && !TYPES.includes(type as string)) return true;
  if ("enum" in schema) return !Array.isArray(schema.enum) || schema.enum.length === 0;
  if ("const" in schema) return typeof schema.const === "object" && schema.const !== null;
  if (schema.prefixItems !== undefined || Array.isArray(schema.items)) return true;
  if (type === "array") return !isSchema(schema.items);
  if (type === "object" || schema.properties !== undefined) return isFreeObject(schema);
  return type === undefined && !has(schema, COMBINED);
}

function isFreeObject(schema: Schema): boolean {
  const { properties, additionalProperties, patternProperties } = schema;
  if (properties !== undefined && !isSchema(properties)) return true;
  if (isSchema(properties) && Object.keys(properties).join() === UNSUPPORTED_PROPERTY) return true;
  if (properties !== undefined || has(schema, COMBINED)) return false;
  const hasNamed = isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0;
  return !hasNamed && !hasCheapNames(patternProperties);
}

/** Unwraps an allOf with one part, which pydantic writes for a reference with a default. */
export function unwrapSingleAllOf(schema: Schema): Schema {
  const { allOf, ...beside } = schema;
  const [only, ...more] = Array.isArray(allOf) ? allOf : [];
  if (!isSchema(only) || more.length || has(beside, ["type", "properties", "$ref"])) return schema;
  return { ...only, ...beside };
}

/** Whether the parts of allOf agree on one type. */
export function hasOneType(drawn: Schema): boolean {
  if (!Array.isArray(drawn.allOf)) return true;
  const parts = [drawn, ...drawn.allOf.filter(isSchema)];
  const kindOf = (part: Schema): unknown => {
    if (part.type === "integer") return "number";
    return part.type ?? (isSchema(part.properties) ? "object" : undefined);
  };
  const kinds = new Set(parts.map(kindOf).filter((kind) => kind !== undefined));
  return kinds.size === 1 || (kinds.size === 0 && parts.some((part) => has(part, DRAWN.slice(2))));
}

/** Drops branches that only constrain: these are for the validator. */
export function withDrawableBranches(schema: Schema): Schema {
  const next = { ...schema };
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (branches === undefined) continue;
    const isForm =
      Array.isArray(branches) &&
      branches.length > 0 &&
      (branches.some((one) => isSchema(one) && has(one, DRAWN)) || !has(schema, DRAWN.slice(0, 5)));
    if (!isForm) delete next[key];
  }
  // An object with only branches needs no fieldset of its own.
  const isAllBranches = next.properties === undefined && has(next, ["anyOf", "oneOf"]);
  if (next.type === "object" && isAllBranches && !isChoices(next.anyOf)) delete next.type;
  return next;
}

export function isMultipleChoice(schema: Schema): boolean {
  return schema.type === "array" && isSchema(schema.items) && schema.items[CHOICES] === true;
}

/** `["string", "null"]` and `anyOf` with null as the type beside null. */
export function withoutNull(schema: Schema): { schema: Schema; isNullable: boolean } {
  if (Array.isArray(schema.type) && schema.type.length > 0) {
    const types = schema.type.filter((type) => type !== "null");
    const isNullable = types.length < schema.type.length;
    if (types.length === 1) return nullable({ ...schema, type: types[0] }, isNullable);
  }
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (!Array.isArray(branches) || isChoices(branches) || !branches.some(isNull)) continue;
    const others = branches.filter((branch) => !isNull(branch));
    const { [key]: _, ...beside } = schema;
    if (others.length === 1 && isSchema(others[0]))
      return nullable({ ...others[0], ...beside }, true);
    if (others.length > 1) return nullable({ ...beside, [key]: others }, true);
  }
  // One value only: null.
  if (isNull(schema)) {
    const { type: _, const: __, ...others } = schema;
    return { schema: { default: null, ...others, enum: [null] }, isNullable: false };
  }
  return { schema, isNullable: false };
}

/** A checkbox shows two values; the third makes it a choice. */
function nullable(schema: Schema, isNullable: boolean): { schema: Schema; isNullable: boolean } {
  if (!isNullable || schema.type !== "boolean") return { schema, isNullable };
  const { type: _, ...rest } = schema;
  return { schema: { ...rest, enum: [true, false, null] }, isNullable };
}

/** Makes a required field nullable: empty means null; for objects and lists, null is a branch. */
export function withNull(drawn: Schema): Schema {
  if (drawn.$id === JSON_FIELD) return drawn;
  const isField = drawn[CHOICES] || !["object", "array", undefined].includes(drawn.type as string);
  if (isField) return { default: null, ...drawn, [VALUE_WHEN_EMPTIED]: null };
  const branch = { type: "null", title: "null" };
  const key = Array.isArray(drawn.oneOf) ? "oneOf" : "anyOf";
  const branches = drawn[key];
  if (Array.isArray(branches) && drawn.properties === undefined)
    return { ...drawn, [key]: [...branches, branch] };
  const { title, description, default: initial, [SUMMARY]: facts, ...rest } = drawn;
  const shown = { ...rest, title: String(drawn.type ?? "value"), [SUMMARY]: "" };
  const about = {
    ...(title ? { title } : {}),
    ...(description ? { description } : {}),
    [SUMMARY]: facts ?? "",
  };
  return {
    ...about,
    ...(initial === undefined ? {} : { default: initial }),
    anyOf: [shown, branch],
  };
}
