// The words that the other files here use about JSON Schemas, and the marks that prepare() leaves.

export type Schema = { [key: string]: unknown };

/** Sub-schemas with this $id are drawn as a JSON field. */
export const JSON_FIELD = "mcplens-json-field";
/** Null is allowed here as well. */
export const NULLABLE = "mcplens-nullable";
/** What an emptied field sends; without this mark it is left out. */
export const EMPTIED = "mcplens-emptied";
/** An item of a list, or of an object of free keys: it is there, so it cannot be left out. */
export const PLACED = "mcplens-placed";
/** What the schema as it was sent says of the value, in one line. */
export const FACTS = "mcplens-facts";
/** Bytes as base64, which a file can be the source of. */
export const BYTES = "mcplens-bytes";
/** Drawn as a list of choices; its type says nothing about their values. */
export const CHOICES = "mcplens-choices";

/** A property that no form can have: to set it in an object sets the prototype instead. */
export const NO_FIELD = "__proto__";
/** The schema as a whole describes such a property. */
export const LACKING = "mcplens-lacking";

/** Whether a value has such a property, at any depth. */
export function hasNoField(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, NO_FIELD) || Object.values(value).some(hasNoField);
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isChoice = (value: unknown): boolean => isSchema(value) && "const" in value;
export const isChoices = (value: unknown): value is Schema[] =>
  Array.isArray(value) && value.length > 0 && value.every(isChoice);
export const isNull = (value: unknown): boolean =>
  isSchema(value) && (value.type === "null" || ("const" in value && value.const === null));

const MARKS = [LACKING, NULLABLE, EMPTIED, PLACED, FACTS, BYTES, CHOICES];

/** Without the marks of prepare(), which are no schema. */
export function unmarked(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(unmarked);
  if (!isSchema(schema)) return schema;
  const entries = Object.entries(schema).filter(
    ([key, value]) =>
      !(key === "$id" && value === JSON_FIELD) &&
      !(key === "type" && schema[CHOICES]) &&
      !MARKS.includes(key),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, unmarked(value)]));
}
