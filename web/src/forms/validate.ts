// Validates a value against a JSON Schema, without eval, which the CSP forbids. The backend is the
// authority; this gives messages while typing.
import { type Schema as CfSchema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { isSchema } from "./schema";
import { isTooCostlyToValidate } from "./validationCost";

export interface Finding {
  /** JSON pointer of the value. */
  pointer: string;
  message: string;
}

// Their errors only say that a nested value is invalid.
const OUTER = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "$ref",
  "$recursiveRef",
  "$dynamicRef",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
  "unevaluatedProperties",
  "contains",
]);
const DRAFTS: [string, SchemaDraft][] = [
  ["draft-04", "4"],
  ["draft-06", "7"],
  ["draft-07", "7"],
  ["2019-09", "2019-09"],
];

export function draftOf(schema: unknown): SchemaDraft {
  const named = isSchema(schema) && typeof schema.$schema === "string" ? schema.$schema : "";
  return DRAFTS.find(([name]) => named.includes(name))?.[1] ?? "2020-12";
}

/** A copy, since the library writes marks into what it is given. */
const cloned = (schema: unknown): CfSchema | boolean =>
  structuredClone(schema) as CfSchema | boolean;

export function isValid(schema: unknown, value: unknown): boolean {
  try {
    return new Validator(cloned(schema), draftOf(schema)).validate(value).valid;
  } catch {
    return false;
  }
}

function sentence(keyword: string, error: string): string {
  if (keyword === "required") return "This is required.";
  const subjects = { Instance: "The value", String: "The text", Array: "The list" };
  return Object.entries(subjects).reduce(
    (text, [from, to]) => text.replace(new RegExp(`^${from} `), `${to} `),
    error,
  );
}

export function validate(schema: unknown, value: unknown): Finding[] {
  // The backend validates it when it is sent.
  if (isTooCostlyToValidate(schema)) return [];
  let errors: ReturnType<Validator["validate"]>["errors"];
  try {
    ({ errors } = new Validator(cloned(schema), draftOf(schema), false).validate(value));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return [{ pointer: "", message: `The schema cannot be used: ${why}` }];
  }
  const inner = errors.filter((error) => !OUTER.has(error.keyword));
  const kept = inner.length ? inner : errors;
  const findings = kept.map(({ keyword, instanceLocation, error }) => {
    // The library writes its pointers as the fragment of a URI.
    const place = decodeURIComponent(instanceLocation.replace(/^#/, ""));
    const missing = keyword === "required" ? /"(.*)"/.exec(error)?.[1] : undefined;
    const pointer =
      missing === undefined
        ? place
        : `${place}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return { pointer, message: sentence(keyword, error) };
  });
  const unique = new Map(
    findings.map((finding) => [`${finding.pointer} ${finding.message}`, finding]),
  );
  return [...unique.values()];
}

/** The segments of a JSON pointer. */
export const partsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Path of a finding as text: `people[0].name`. */
export function placeOf({ pointer }: Finding): string {
  const place = partsOf(pointer).reduce((before, part) => {
    if (/^\d+$/.test(part)) return `${before}[${part}]`;
    const name = /^[\w-]+$/.test(part) ? part : JSON.stringify(part);
    return before ? `${before}.${name}` : name;
  }, "");
  return place || "The whole value";
}
