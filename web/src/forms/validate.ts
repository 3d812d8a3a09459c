// Validates a value against a JSON Schema, without eval, which the CSP forbids. The backend is the
// authority; this gives messages while typing.
import { type Schema as CfSchema, type SchemaDraft, Validator } from "@cfworker/json-schema";
import { withJudgedPatterns } from "./judgedPatterns";
import { type Verdict, verdictOf } from "./patternVerdicts";
import { isSchema } from "./schema";
import { isTooCostlyToValidate } from "./validationCost";

export interface Finding {
  /** JSON pointer of the value. */
  pointer: string;
  message: string;
  /** Its field says it already, whatever the schema says. */
  isAtField?: boolean;
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

export function isValid(schema: unknown, value: unknown): boolean {
  try {
    // A pattern whose verdict is not known yet is taken to match.
    return withJudgedPatterns(schema, value, "matches", (judged) =>
      new Validator(judged as CfSchema, draftOf(schema)).validate(value),
    ).result.valid;
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

type CfError = ReturnType<Validator["validate"]>["errors"][number];

// The library writes its pointers as the fragment of a URI.
const pointerIn = ({ instanceLocation }: CfError): string =>
  decodeURIComponent(instanceLocation.replace(/^#/, ""));

function findingOf(error: CfError): Finding {
  const { keyword, error: text } = error;
  const place = pointerIn(error);
  const missing = keyword === "required" ? /"(.*)"/.exec(text)?.[1] : undefined;
  const pointer =
    missing === undefined
      ? place
      : `${place}/${missing.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return { pointer, message: sentence(keyword, text) };
}

function unique(findings: Finding[]): Finding[] {
  const kept = new Map(findings.map((one) => [`${one.pointer} ${one.message}`, one]));
  return [...kept.values()];
}

const errorsOf = (schema: unknown, judged: unknown, value: unknown): CfError[] =>
  new Validator(judged as CfSchema, draftOf(schema), false).validate(value).errors;

export interface Check {
  /** What breaks the schema. */
  findings: Finding[];
  /** Patterns that could not be checked: the value may be right or wrong. */
  unchecked: Finding[];
}

function violations(schema: unknown, value: unknown) {
  return withJudgedPatterns(schema, value, "matches", (judged, patternOf) => {
    const errors = errorsOf(schema, judged, value);
    const inner = errors.filter((error) => !OUTER.has(error.keyword));
    return (inner.length ? inner : errors).map((error) =>
      error.keyword === "format" && patternOf(error.error) !== undefined
        ? { pointer: pointerIn(error), message: "The text does not match the pattern." }
        : findingOf(error),
    );
  });
}

const UNCHECKED: Partial<Record<Verdict, string>> = {
  too_slow: "The pattern is too slow to check.",
  unusable: "The pattern cannot be checked: it is not a valid regular expression.",
};

/** Where the patterns are that could not be checked. */
function uncheckedPatterns(schema: unknown, value: unknown): Finding[] {
  return withJudgedPatterns(schema, value, "differs", (judged, patternOf) =>
    errorsOf(schema, judged, value).flatMap((error) => {
      const pattern = error.keyword === "format" ? patternOf(error.error) : undefined;
      const text = valueAt(value, partsOf(pointerIn(error)));
      if (pattern === undefined || typeof text !== "string") return [];
      const message = UNCHECKED[verdictOf(pattern, text) ?? "matches"];
      return message ? [{ pointer: pointerIn(error), message }] : [];
    }),
  ).result;
}

export function check(schema: unknown, value: unknown): Check {
  // The backend validates it when it is sent.
  if (isTooCostlyToValidate(schema)) return { findings: [], unchecked: [] };
  try {
    const { result, ...judged } = violations(schema, value);
    const unchecked = judged.hasUnchecked ? uncheckedPatterns(schema, value) : [];
    const message = judged.uncheckedNames && UNCHECKED[judged.uncheckedNames];
    if (message) unchecked.push({ pointer: "", message });
    const isUnsure = judged.pendingNames || message;
    return { findings: isUnsure ? [] : unique(result), unchecked: unique(unchecked) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `The schema cannot be used: ${why}`;
    return { findings: [{ pointer: "", message }], unchecked: [] };
  }
}

export const validate = (schema: unknown, value: unknown): Finding[] =>
  check(schema, value).findings;

/** What is said of findings beside the button that sends: the fields say what is wrong with each. */
export function invalidFieldsLabel(findings: Finding[]): string {
  const fields = new Set(findings.map(({ pointer }) => pointer).filter(Boolean)).size;
  if (fields === 0) return "The whole value is not valid";
  return fields === 1
    ? "1 field is not valid"
    : `${fields.toLocaleString("en")} fields are not valid`;
}

/** The findings that are said: those of fields at once, all others once sending was tried. */
export const shownFindings = (findings: Finding[], isTried: boolean): Finding[] =>
  isTried ? findings : findings.filter((finding) => finding.isAtField);

/** Whether a message at a field says that it was not checked, rather than that it is wrong. */
export const isUncheckedNote = (message: string): boolean =>
  Object.values(UNCHECKED).includes(message);

const valueAt = (value: unknown, [first, ...rest]: string[]): unknown => {
  if (first === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, first)) return undefined;
  return valueAt((value as Record<string, unknown>)[first], rest);
};

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
