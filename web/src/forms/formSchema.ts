// Converts a JSON Schema for the form library: inlines local references, unwraps nullable types,
// marks choices, and drops unsupported keywords. Parts that no form control fits become JSON
// fields. Values are always validated against the original schema, never against this one.

import { hasTooManyFields, MAX_FIELDS } from "./formSize";
import {
  BYTES,
  CHOICES,
  HAS_UNSUPPORTED,
  isChoices,
  isSchema,
  JSON_FIELD,
  LIST_ITEM,
  NULLABLE,
  REQUIRED,
  type Schema,
  SUMMARY,
  UNSUPPORTED_PROPERTY,
  VALUE_WHEN_EMPTIED,
} from "./schema";
import { inlineRefs, resolveRef } from "./schemaRefs";
import {
  asJsonField,
  hasCheapNames,
  hasOneType,
  isMultipleChoice,
  needsJsonField,
  unwrapSingleAllOf,
  withDrawableBranches,
  withNull,
  withoutNull,
} from "./schemaRewrites";
import { summarizeSchema } from "./schemaSummary";

// A schema with more nodes than this, references inlined, is too large for a form.
const MOST_NODES = 3000;
class TooLarge extends Error {}
// Deeper nesting is clearer as JSON.
const MOST_DEPTH = 8;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isList = (value: unknown): boolean => Array.isArray(value);
const isAny = (): boolean => true;
const isFilled = (value: Schema): boolean => Object.keys(value).length > 0;
// The library has widgets by these names; one for "hidden" would hide the field.
const FORMATS = ["date", "time", "date-time", "email", "uri", "password"];
/** Keywords that are copied if their value has the right type. */
const PLAIN = new Map<string, (value: unknown) => boolean>(
  Object.entries({
    type: isText,
    title: isText,
    description: isText,
    default: isAny,
    const: isAny,
    enum: isList,
    enumNames: isList,
    examples: isList,
    format: (value: unknown) => FORMATS.includes(value as string),
    deprecated: (value: unknown) => typeof value === "boolean",
    readOnly: (value: unknown) => typeof value === "boolean",
    required: (value: unknown) => Array.isArray(value) && value.every(isText),
    discriminator: (value: unknown) => isSchema(value) && isText(value.propertyName),
    pattern: isText,
    ...Object.fromEntries(
      ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        .concat(["minLength", "maxLength", "minItems", "maxItems"])
        .map((key) => [key, isNumber]),
    ),
    uniqueItems: (value: unknown) => typeof value === "boolean",
  }),
);

interface SchemaContext {
  refs: readonly string[];
  depth: number;
  /** Inside allOf or a condition: it adds to a field that is described elsewhere. */
  isPart: boolean;
}

class FormSchemaBuilder {
  private nodes = 0;
  lacksField = false;

  constructor(
    private readonly root: unknown,
    private readonly sendsHeaders: boolean,
  ) {}

  prepare(given: unknown, place: SchemaContext): Schema {
    this.count();
    if (!isSchema(given)) return asJsonField({});
    if (place.depth > MOST_DEPTH) return asJsonField(given);
    if (isText(given.$ref)) return this.resolved(given, place);
    const { schema, isNullable } = withoutNull(unwrapSingleAllOf(given));
    const drawn = isText(schema.$ref)
      ? this.resolved(schema, place)
      : { ...this.drawn(schema, place), ...this.facts(given, place) };
    return isNullable ? { ...drawn, [NULLABLE]: true } : drawn;
  }

  /**
   * Summary of the original schema, which says more than the converted one. Parts are merged into
   * others.
   */
  private facts(given: Schema, { depth, isPart }: SchemaContext): Schema {
    const facts =
      depth === 0 || isPart ? "" : summarizeSchema(unwrapSingleAllOf(given), this.sendsHeaders);
    return facts ? { [SUMMARY]: facts } : {};
  }

  private count(): void {
    this.nodes += 1;
    if (this.nodes > MOST_NODES) throw new TooLarge();
  }

  private resolved(schema: Schema, place: SchemaContext): Schema {
    const { $ref, ...beside } = schema;
    const ref = String($ref);
    const target = resolveRef(this.root, ref);
    // A recursive schema: the inner part becomes a JSON field.
    if (place.refs.includes(ref) || !isSchema(target)) return asJsonField(schema);
    return this.prepare({ ...target, ...beside }, { ...place, refs: [...place.refs, ref] });
  }

  private drawn(given: Schema, place: SchemaContext): Schema {
    const schema = withDrawableBranches(given);
    const saysLittle = place.isPart && schema.type === undefined;
    if (needsJsonField(schema) && !saysLittle) return asJsonField(schema);
    const drawn = this.inside(schema, place);
    // The library renders nothing for an empty or contradictory schema.
    return isFilled(drawn) && (place.isPart || hasOneType(drawn)) ? drawn : asJsonField(schema);
  }

  private inside(schema: Schema, place: SchemaContext): Schema {
    const next: Schema = {};
    const below = { ...place, depth: place.depth + 1 };
    for (const [key, value] of Object.entries(schema)) {
      if (PLAIN.get(key)?.(value)) next[key] = value;
      else if (key === "properties" && isSchema(value))
        next.properties = this.properties(value, schema.required, below);
      else if (key === "patternProperties" && hasCheapNames(value))
        next.patternProperties = this.properties(value, [], below);
      else if (key === "items") next.items = this.item(value, below);
      else if (key === "additionalProperties")
        next[key] = isSchema(value) && isFilled(value) ? this.item(value, below) : value !== false;
      else if ((key === "anyOf" || key === "oneOf") && isChoices(value))
        // The library would preselect the first of anyOf.
        next.oneOf = value;
      else if ((key === "anyOf" || key === "oneOf") && Array.isArray(value))
        next[key] = this.branches(schema, value, below);
      else if (key === "allOf" && Array.isArray(value))
        next.allOf = value.filter(isSchema).map((part) => this.part(part, below));
    }
    Object.assign(next, this.conditions(schema, below));
    if (isBytes(schema)) next[BYTES] = true;
    return finished(next, place.isPart);
  }

  private properties(given: Schema, required: unknown, place: SchemaContext): Schema {
    const isRequired = (name: string): boolean =>
      Array.isArray(required) && required.includes(name);
    return Object.fromEntries(
      this.drawnOf(given).map(([name, child]) => {
        const drawn = this.prepare(child, place);
        const isNeeded = isRequired(name) && !place.isPart;
        return [name, isNeeded ? whenRequired(drawn) : whenOptional(drawn)];
      }),
    );
  }

  private drawnOf(properties: Schema): [string, unknown][] {
    if (Object.hasOwn(properties, UNSUPPORTED_PROPERTY)) this.lacksField = true;
    return Object.entries(properties).filter(([name]) => name !== UNSUPPORTED_PROPERTY);
  }

  /** A list item cannot be omitted, so an empty text stays a text. */
  private item(given: unknown, place: SchemaContext): Schema {
    const prepared = whenRequired(this.prepare(given, { ...place, isPart: false }));
    const drawn = prepared.$id === JSON_FIELD ? prepared : placed(prepared);
    const isPlainText =
      drawn.type === "string" && !drawn[CHOICES] && !(VALUE_WHEN_EMPTIED in drawn);
    return isPlainText && !("const" in drawn)
      ? { default: "", ...drawn, [VALUE_WHEN_EMPTIED]: "" }
      : drawn;
  }

  private branches(schema: Schema, given: unknown[], place: SchemaContext): Schema[] {
    const drawn = given.map((branch) => named(this.prepare(branch, { ...place, isPart: false })));
    // With fields of its own beside the branches, it cannot be one JSON value as well; and for all
    // of the form there is the JSON editor.
    const hasJson = drawn.some((one) => one.$id === JSON_FIELD);
    if (schema.properties !== undefined || hasJson || place.depth === 1) return drawn;
    // Matches only values that no branch matches.
    return [...drawn, { $id: JSON_FIELD, title: "JSON", not: { anyOf: drawn } }];
  }

  /** A part of allOf or a condition is inlined, but never becomes a field of its own. */
  private part(given: unknown, place: SchemaContext): Schema {
    this.count();
    if (!isSchema(given)) return {};
    if (!isText(given.$ref)) return this.inside(given, { ...place, isPart: true });
    const { $ref, ...beside } = given;
    const target = resolveRef(this.root, String($ref));
    if (place.refs.includes(String($ref)) || !isSchema(target)) return {};
    return this.part({ ...target, ...beside }, { ...place, refs: [...place.refs, String($ref)] });
  }

  /** if/then/else and dependencies; omitted if they cannot be inlined. */
  private conditions(schema: Schema, place: SchemaContext): Schema {
    const next: Schema = {};
    const condition = isSchema(schema.if) ? inlineRefs(this.root, schema.if) : undefined;
    if (condition !== undefined) {
      next.if = condition;
      for (const key of ["then", "else"])
        if (isSchema(schema[key])) next[key] = this.part(schema[key], place);
    }
    const dependencies: Schema = {};
    for (const key of ["dependencies", "dependentSchemas", "dependentRequired"]) {
      const map = schema[key];
      for (const [name, needs] of isSchema(map) ? Object.entries(map) : [])
        dependencies[name] = Array.isArray(needs) ? needs.filter(isText) : this.part(needs, place);
    }
    return Object.keys(dependencies).length ? { ...next, dependencies } : next;
  }
}

/** By the keyword of JSON Schema, or the format of OpenAPI. */
const isBytes = ({ type, contentEncoding, format }: Schema): boolean =>
  type === "string" && (contentEncoding === "base64" || format === "byte");

function finished(next: Schema, isPart: boolean): Schema {
  if (next.type === undefined && isSchema(next.properties) && !isPart) next.type = "object";
  if (isMultipleChoice(next)) next.uniqueItems = true;
  if ("const" in next) next.readOnly = true;
  if (Array.isArray(next.enum) || isChoices(next.oneOf)) {
    next.type = "string";
    next[CHOICES] = true;
  }
  return next;
}

/** Initial value of a required field: false for a checkbox, null for a nullable field. */
function whenRequired(drawn: Schema): Schema {
  if (drawn[NULLABLE]) return withNull(drawn);
  return drawn.type === "boolean" && !("const" in drawn) ? { default: false, ...drawn } : drawn;
}

/** The summary of items is shown once, at the list. */
function placed(drawn: Schema): Schema {
  const isOuter = drawn.type === "object" || drawn.type === "array";
  return { ...drawn, [LIST_ITEM]: true, ...(isOuter ? {} : { [SUMMARY]: "" }) };
}

/** In a union, null is one of the kinds. */
function whenOptional(drawn: Schema): Schema {
  const isBranches = drawn.properties === undefined && (drawn.anyOf ?? drawn.oneOf) !== undefined;
  return drawn[NULLABLE] && isBranches && !drawn[CHOICES] ? withNull(drawn) : drawn;
}

/** A branch with a title. */
function named(branch: Schema): Schema {
  if (branch.title !== undefined) return branch;
  const names = isSchema(branch.properties) ? Object.keys(branch.properties) : [];
  const type = branch[CHOICES] ? "choice" : String(branch.type ?? "value");
  const kind = branch.$id === JSON_FIELD ? "JSON" : type;
  return { ...branch, title: names.length ? `${kind} with ${names.slice(0, 3).join(", ")}` : kind };
}

/**
 * The schema to draw; null if all of it is better typed as JSON.
 *
 * @throws TooLarge
 */
export function toFormSchema(schema: unknown, sendsHeaders = false): Schema | null {
  if (!isSchema(schema)) return null;
  const place = { refs: [], depth: 0, isPart: false };
  const isTyped = schema.type !== undefined || isText(schema.$ref);
  const given: Schema = isTyped ? { ...schema } : { type: "object", ...schema };
  if (!isText(schema.$ref)) given.properties ??= {};
  const work = new FormSchemaBuilder(schema, sendsHeaders);
  const prepared = work.prepare(given, place);
  if (prepared.$id === JSON_FIELD || prepared[CHOICES]) return null;
  if (prepared.type === undefined && (prepared.anyOf || prepared.oneOf)) prepared.type = "object";
  if (prepared.type !== "object") return null;
  if (work.lacksField) prepared[HAS_UNSUPPORTED] = true;
  // Already shown in the form's heading.
  delete prepared.title;
  delete prepared.description;
  return prepared;
}

const isListOrObject = (child: unknown): boolean =>
  isSchema(child) && (child.type === "array" || child.type === "object");

/**
 * Removes defaults of properties, which are filled in once: the library would restore them whenever
 * a field is emptied. For the same reason it is not told which lists and objects are required.
 */
export function withoutDefaults(prepared: Schema): Schema {
  const { default: _, ...rest } = prepared;
  if (!isSchema(rest.properties)) return rest;
  const given = Object.entries(rest.properties);
  const required: unknown[] = Array.isArray(rest.required) ? rest.required : [];
  const hidden = given
    .filter(([name, child]) => required.includes(name) && isListOrObject(child))
    .map(([name]) => name);
  const children = given.map(([name, child]) => [
    name,
    isSchema(child)
      ? { ...withoutDefaults(child), ...(hidden.includes(name) ? { [REQUIRED]: true } : {}) }
      : child,
  ]);
  const next = { ...rest, properties: Object.fromEntries(children) };
  if (hidden.length === 0) return next;
  return { ...next, required: required.filter((name) => !hidden.includes(String(name))) };
}

export type FormPlan =
  | { kind: "form"; schema: Schema }
  | { kind: "nothing" }
  | { kind: "json"; note: string };

/** The schema of the form; of one without fields an empty one. */
export const formSchemaOf = (plan: FormPlan): Schema => (plan.kind === "form" ? plan.schema : {});

const TOO_LONG = `This form has too many fields to show (more than ${MAX_FIELDS}): write JSON instead.`;

function boundedOf(schema: unknown, sendsHeaders: boolean): Schema | null | "too long" {
  try {
    const prepared = toFormSchema(schema, sendsHeaders);
    return prepared && hasTooManyFields(prepared) ? "too long" : prepared;
  } catch (thrown) {
    if (thrown instanceof TooLarge) return "too long";
    throw thrown;
  }
}

/** How to edit values of a schema: as a form, nothing to fill in, or JSON and why. */
export function planForm(schema: unknown, sendsHeaders = false): FormPlan {
  if (takesAnything(schema))
    return { kind: "json", note: "Any arguments are accepted: write them as JSON." };
  const prepared = boundedOf(schema, sendsHeaders);
  if (prepared === "too long") return { kind: "json", note: TOO_LONG };
  if (!prepared)
    return { kind: "json", note: "This schema describes no fields: write the arguments as JSON." };
  return hasFields(prepared) ? { kind: "form", schema: prepared } : { kind: "nothing" };
}

/** Keywords that add fields beside those of `properties`. */
const MORE = ["anyOf", "oneOf", "patternProperties", "if", "dependencies"];

function hasFields(prepared: Schema): boolean {
  const { properties, additionalProperties: others, allOf } = prepared;
  if (isSchema(properties) && isFilled(properties)) return true;
  if (others !== undefined && others !== false) return true;
  if (Array.isArray(allOf) && allOf.some((part) => isSchema(part) && hasFields(part))) return true;
  return MORE.some((key) => prepared[key] !== undefined);
}

/** Whether a schema accepts any object. An object without properties means "no arguments". */
function takesAnything(schema: unknown): boolean {
  if (!isSchema(schema)) return schema === true || schema === undefined || schema === null;
  const { type, properties, additionalProperties: others } = schema;
  if (type !== undefined && type !== "object") return false;
  if (isSchema(properties) && isFilled(properties)) return false;
  const isOpen = others === true || (isSchema(others) && !isFilled(others));
  const isSilent = others === undefined && properties === undefined && type === undefined;
  const says = ["$ref", "anyOf", "oneOf", "allOf", "patternProperties", "if", "enum", "const"];
  return (isOpen || isSilent) && !says.some((key) => schema[key] !== undefined);
}

/** Properties of a value that have no field in the form. */
export function namesWithoutField(drawing: FormPlan, value: unknown): string[] {
  const schema = formSchemaOf(drawing);
  const { properties, additionalProperties: others } = schema;
  const grows = [...MORE, "allOf"].some((key) => schema[key] !== undefined) || others;
  if (!isSchema(value) || grows) return [];
  const known = isSchema(properties) ? properties : {};
  return Object.keys(value).filter((name) => !Object.hasOwn(known, name));
}
