// One-line summary of a schema: type, limits, default. Empty for a plain string.
import { truncate } from "../values/format";
import { isChoices, isSchema, NULLABLE, type Schema, SUMMARY } from "./schema";
import { withoutNull } from "./schemaRewrites";

/** Longer defaults and patterns are truncated. */
const MOST_SHOWN = 60;

/** Types that are evident from the control. */
const EVIDENT = ["text", "boolean", "object", "array"];

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const choicesIn = ({ enum: values, oneOf, anyOf }: Schema): unknown[] =>
  [Array.isArray(values) && values, isChoices(oneOf) && oneOf, isChoices(anyOf) && anyOf].find(
    (one) => one !== false,
  ) || [];

function kindOf(schema: Schema, isNullable: boolean): string {
  if ("const" in schema) return "constant";
  const choices = choicesIn(schema);
  if (choices.length)
    return `one of ${choices.length}${isNullable && !choices.includes(null) ? " or null" : ""}`;
  const items = isSchema(schema.items) ? choicesIn(schema.items).length : 0;
  const format = schema.format === "byte" ? "base64" : schema.format;
  const text = [format, schema.contentEncoding].find(isText) ?? "text";
  const kinds = [schema.type].flat().map((type) => {
    if (type === "string") return text;
    return type === "array" && items ? `any of ${items}` : type;
  });
  const known = kinds.filter(isText);
  return [...known, ...(isNullable && known.length ? ["null"] : [])].join(" or ");
}

/** How many of something, or between which numbers. */
function range(least: unknown, most: unknown, unit = "", units = unit): string {
  const of = (count: number): string => (unit ? ` ${count === 1 ? unit : units}` : "");
  if (isNumber(least) && isNumber(most)) {
    if (least === most) return `exactly ${least}${of(least)}`;
    const joined = least < 0 || most < 0 ? `${least} to ${most}` : `${least}–${most}`;
    return joined + of(most);
  }
  if (isNumber(least)) return `at least ${least}${of(least)}`;
  return isNumber(most) ? `up to ${most}${of(most)}` : "";
}

function numberLimits(schema: Schema): string[] {
  const { minimum, maximum, exclusiveMinimum: over, exclusiveMaximum: under } = schema;
  // Draft 4 says by a boolean that a limit is exclusive.
  const above = over === true ? minimum : over;
  const below = under === true ? maximum : under;
  return [
    range(over === true ? null : minimum, under === true ? null : maximum),
    isNumber(above) ? `more than ${above}` : "",
    isNumber(below) ? `less than ${below}` : "",
    isNumber(schema.multipleOf) ? `multiple of ${schema.multipleOf}` : "",
  ];
}

function limitsOf(schema: Schema): string[] {
  const { items } = schema;
  const each = isSchema(items) && choicesIn(items).length === 0 ? summarizeSchema(items) : "";
  const least = schema.minLength === 0 ? null : schema.minLength;
  return [
    range(least, schema.maxLength, "character", "characters"),
    isText(schema.pattern) ? `pattern ${truncate(schema.pattern, MOST_SHOWN)}` : "",
    ...numberLimits(schema),
    range(schema.minItems, schema.maxItems, "item", "items"),
    schema.uniqueItems === true ? "unique" : "",
    range(schema.minProperties, schema.maxProperties, "key", "keys"),
    isText(schema.contentMediaType) ? schema.contentMediaType : "",
    each && `each ${each}`,
  ].filter(Boolean);
}

/** In one line; "" if there is nothing to say. */
export function summarizeSchema(given: Schema, sendsHeaders = false): string {
  const { schema, isNullable } = withoutNull(given);
  const kind = kindOf(schema, isNullable || given[NULLABLE] === true);
  const limits = limitsOf(schema);
  const header = schema["x-mcp-header"];
  const initial = given.default;
  return [
    EVIDENT.includes(kind) && limits.length === 0 ? "" : kind,
    ...limits,
    initial === undefined ? "" : `default ${truncate(JSON.stringify(initial), MOST_SHOWN)}`,
    given.deprecated === true ? "deprecated" : "",
    given.readOnly === true && !("const" in given) ? "read-only" : "",
    given.writeOnly === true ? "write-only" : "",
    sendsHeaders && isText(header) ? `also sent as header Mcp-Param-${header}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** The summary stored by toFormSchema(), or of the schema itself. */
export const storedSummary = (drawn: Schema): string =>
  typeof drawn[SUMMARY] === "string" ? drawn[SUMMARY] : summarizeSchema(drawn);
