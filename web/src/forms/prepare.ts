// A JSON Schema made fit for drawing: local references written out, "or null" taken away, lists of
// choices marked as such. What no form can show well becomes a JSON field. Values are always
// validated against the schema as the server sent it, never against this one.

export type Schema = { [key: string]: unknown };

/** Sub-schemas with this $id are drawn as a JSON field. */
export const JSON_FIELD = "mcplens-json-field";

// A schema that writes out to more than this is no form that anybody fills in.
const MOST_NODES = 3000;
// Deeper nesting is clearer as JSON.
const MOST_DEPTH = 8;
const MAPS = ["properties", "patternProperties", "definitions", "$defs"] as const;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isChoice = (value: unknown): boolean => isSchema(value) && "const" in value;
const isChoices = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(isChoice);
const isNull = (value: unknown): boolean => isSchema(value) && value.type === "null";

/** What a local reference (`#/...`) points at. */
export function lookUp(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

class Preparation {
  private nodes = 0;

  constructor(private readonly root: unknown) {}

  prepare(given: unknown, refs: readonly string[], depth: number): Schema {
    this.nodes += 1;
    if (!isSchema(given)) return asJson({});
    if (this.nodes > MOST_NODES || depth > MOST_DEPTH) return asJson(given);
    if (typeof given.$ref === "string") return this.resolved(given, given.$ref, refs, depth);
    const schema = withoutNull(given);
    if (typeof schema.$ref === "string") return this.resolved(schema, schema.$ref, refs, depth);
    if (needsJson(schema)) return asJson(schema);
    return this.inside(schema, refs, depth);
  }

  private resolved(schema: Schema, ref: string, refs: readonly string[], depth: number): Schema {
    const target = lookUp(this.root, ref);
    // A schema that contains itself has no end: its inner part is JSON.
    if (refs.includes(ref) || !isSchema(target)) return asJson(schema);
    const { $ref: _, ...beside } = schema;
    return this.prepare({ ...target, ...beside }, [...refs, ref], depth);
  }

  private inside(schema: Schema, refs: readonly string[], depth: number): Schema {
    const next: Schema = {};
    for (const [key, value] of Object.entries(schema)) {
      if (key === "$id" || key === "$schema" || key === "$defs" || key === "definitions") continue;
      if (MAPS.some((name) => name === key) && isSchema(value)) {
        next[key] = Object.fromEntries(
          Object.entries(value).map(([name, child]) => [
            name,
            this.prepare(child, refs, depth + 1),
          ]),
        );
      } else if (key === "items" || (key === "additionalProperties" && isSchema(value))) {
        next[key] = this.prepare(value, refs, depth + 1);
      } else if (
        (key === "anyOf" || key === "oneOf") &&
        Array.isArray(value) &&
        !isChoices(value)
      ) {
        next[key] = value.map((branch) => named(this.prepare(branch, refs, depth + 1)));
      } else if (key === "allOf" && Array.isArray(value)) {
        next[key] = value.map((part) => this.part(part, refs, depth + 1));
      } else next[key] = value;
    }
    if (next.type === undefined && isSchema(next.properties)) next.type = "object";
    if (isMultipleChoice(next)) next.uniqueItems = true;
    if ("const" in next && next.type !== "object") next.readOnly = true;
    return next;
  }

  /** A part of allOf may say little; it is written out, but never becomes a field of its own. */
  private part(given: unknown, refs: readonly string[], depth: number): unknown {
    if (!isSchema(given)) return given;
    if (typeof given.$ref !== "string") return this.inside(given, refs, depth);
    const target = lookUp(this.root, given.$ref);
    if (refs.includes(given.$ref) || !isSchema(target)) return {};
    return this.inside(target, [...refs, given.$ref], depth);
  }
}

function asJson(schema: Schema): Schema {
  const { title, description, default: initial } = schema;
  const marked: Schema = { $id: JSON_FIELD };
  if (title !== undefined) marked.title = title;
  if (description !== undefined) marked.description = description;
  if (initial !== undefined) marked.default = initial;
  return marked;
}

/** `["string", "null"]` and `anyOf` with null as the type beside null: left empty is left out. */
function withoutNull(schema: Schema): Schema {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    if (types.length === 1) {
      const { default: initial, ...rest } = schema;
      return { ...rest, type: types[0], ...(initial == null ? {} : { default: initial }) };
    }
  }
  for (const key of ["anyOf", "oneOf"] as const) {
    const branches = schema[key];
    if (!Array.isArray(branches) || !branches.some(isNull)) continue;
    const others = branches.filter((branch) => !isNull(branch));
    const { [key]: _, default: initial, ...rest } = schema;
    const kept = initial == null ? rest : { ...rest, default: initial };
    if (others.length === 1 && isSchema(others[0])) return { ...others[0], ...kept };
    if (others.length > 1) return { ...kept, [key]: others };
  }
  return schema;
}

/** A branch that can be told from the others by its name. */
function named(branch: Schema): Schema {
  if (branch.title !== undefined) return branch;
  const names = isSchema(branch.properties) ? Object.keys(branch.properties) : [];
  const kind = branch.$id === JSON_FIELD ? "JSON" : String(branch.type ?? "value");
  return { ...branch, title: names.length ? `${kind} with ${names.slice(0, 3).join(", ")}` : kind };
}

function isMultipleChoice(schema: Schema): boolean {
  if (schema.type !== "array" || !isSchema(schema.items)) return false;
  const { items } = schema;
  return isChoices(items.anyOf) || isChoices(items.oneOf) || Array.isArray(items.enum);
}

function needsJson(schema: Schema): boolean {
  const { type } = schema;
  if (Array.isArray(type)) return true;
  if (schema.prefixItems !== undefined || Array.isArray(schema.items)) return true;
  if (type === "array") return schema.items === undefined || typeof schema.items === "boolean";
  if (type === "object" || (type === undefined && schema.properties !== undefined)) {
    const isFree = schema.properties === undefined && !isSchema(schema.additionalProperties);
    const isCombined = ["anyOf", "oneOf", "allOf"].some((key) => schema[key] !== undefined);
    return isFree && !isCombined && schema.patternProperties === undefined;
  }
  if (type !== undefined) return false;
  return !["enum", "const", "anyOf", "oneOf", "allOf"].some((key) => schema[key] !== undefined);
}

/** The schema to draw; null if all of it is better typed as JSON. */
export function prepare(schema: unknown): Schema | null {
  if (!isSchema(schema)) return null;
  const isObject = schema.type === "object" || schema.type === undefined;
  if (!isObject) return null;
  const asObject: Schema = { ...schema, type: "object" };
  if (!("properties" in asObject)) asObject.properties = {};
  const prepared = new Preparation(schema).prepare(asObject, [], 0);
  // The form's own heading says it already.
  delete prepared.title;
  delete prepared.description;
  return prepared.$id === JSON_FIELD ? null : prepared;
}

/** Whether there is nothing to fill in. */
export function isWithoutFields(prepared: Schema): boolean {
  const hasProperties =
    isSchema(prepared.properties) && Object.keys(prepared.properties).length > 0;
  const isCombined = ["anyOf", "oneOf", "allOf"].some((key) => prepared[key] !== undefined);
  return !hasProperties && !isSchema(prepared.additionalProperties) && !isCombined;
}
