// Types and checks for JSON Schemas, and the marks that toFormSchema() adds.

export type Schema = { [key: string]: unknown };

/** Sub-schemas with this $id become a JSON field. */
export const JSON_FIELD = "mcplens-json-field";
/** Null is allowed here as well. */
export const NULLABLE = "mcplens-nullable";
/** The value of an emptied field; without this mark it is omitted. */
export const VALUE_WHEN_EMPTIED = "mcplens-emptied";
/** An item of a list or of an object with free keys, which cannot be omitted. */
export const LIST_ITEM = "mcplens-placed";
/** Required by its object. The library does not know: it would fill in what was left out. */
export const REQUIRED = "mcplens-required";
/** One-line summary of the original schema. */
export const SUMMARY = "mcplens-facts";
/** Base64 data, which can be read from a file. */
export const BYTES = "mcplens-bytes";
/** A list of choices; its type says nothing about their values. */
export const CHOICES = "mcplens-choices";

/** A property that no form supports: assigning it sets the prototype. */
export const UNSUPPORTED_PROPERTY = "__proto__";
/** The schema as a whole describes such a property. */
export const HAS_UNSUPPORTED = "mcplens-lacking";

/** Whether a value has such a property, at any depth. */
export function hasUnsupportedProperty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    Object.hasOwn(value, UNSUPPORTED_PROPERTY) || Object.values(value).some(hasUnsupportedProperty)
  );
}

/** Whether a field is required, by the library's own knowledge or by our mark. */
export const isRequiredField = (schema: object, required: boolean | undefined): boolean =>
  required === true || REQUIRED in schema;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isChoice = (value: unknown): boolean => isSchema(value) && "const" in value;
export const isChoices = (value: unknown): value is Schema[] =>
  Array.isArray(value) && value.length > 0 && value.every(isChoice);
export const isNull = (value: unknown): boolean =>
  isSchema(value) && (value.type === "null" || ("const" in value && value.const === null));

const MARKS = [
  ...[HAS_UNSUPPORTED, NULLABLE, VALUE_WHEN_EMPTIED, LIST_ITEM, REQUIRED],
  ...[SUMMARY, BYTES, CHOICES],
];

/** Without the marks of toFormSchema(), which are not part of the schema. */
export function withoutMarks(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMarks);
  if (!isSchema(schema)) return schema;
  const entries = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === "$id" && value === JSON_FIELD) &&
      !(key === "type" && schema[CHOICES]) &&
      !MARKS.includes(key),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutMarks(value)]));
}
