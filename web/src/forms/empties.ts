// What an empty field may send: nothing at all, an empty value of its type, or null. They look the
// same in a field, and are not the same to a server.
import { CHOICES, isNull, isSchema, NULLABLE, PLACED, type Schema } from "./schema";

export type Empty = "nothing" | "empty" | "null";

const EMPTY_OF: Readonly<Record<string, [unknown, string]>> = {
  string: ["", "Sent as empty text"],
  array: [[], "Sent as an empty list"],
  object: [{}, "Sent as an empty object"],
  boolean: [false, "Sent as false"],
};

/** What kind of nothing a value is; null if it is something. */
export function emptyOf(value: unknown): Empty | null {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  const isEmpty =
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0) ||
    (isSchema(value) && Object.keys(value).length === 0);
  return isEmpty ? "empty" : null;
}

const emptyValue = (schema: Schema): [unknown, string] | undefined =>
  schema[CHOICES] ? undefined : EMPTY_OF[String(schema.type)];

/** Null is one of its choices. */
const hasNull = ({ enum: values, oneOf }: Schema): boolean =>
  (Array.isArray(values) && values.includes(null)) || (Array.isArray(oneOf) && oneOf.some(isNull));

/** What this field may send while it is empty, what it sends now among them. */
export function emptiesOf(schema: Schema, now: Empty): Empty[] {
  const can: Record<Empty, boolean> = {
    nothing: !schema[PLACED],
    empty: emptyValue(schema) !== undefined,
    null: schema[NULLABLE] === true && !hasNull(schema),
  };
  return (["nothing", "empty", "null"] as const).filter((one) => can[one] || one === now);
}

export function sentFor(schema: Schema, empty: Empty): unknown {
  if (empty === "null") return null;
  return empty === "empty" ? emptyValue(schema)?.[0] : undefined;
}

export function wordsFor(schema: Schema, empty: Empty): string {
  if (empty === "nothing") return "Not sent";
  return (empty === "empty" && emptyValue(schema)?.[1]) || "Sent as null";
}

/**
 * Whether it goes without saying: nothing is sent for a field that nobody filled in, and what has
 * to be there is there.
 */
export function isPlain(schema: Schema, now: Empty, isRequired: boolean): boolean {
  return now === "nothing" || (now === "empty" && isRequired && schema.type !== "string");
}
