// Number of fields of a form, and whether it is too large to render.
import { CHOICES, isSchema, JSON_FIELD, type Schema } from "./schema";

/** More fields take seconds to render. */
export const MAX_FIELDS = 300;

// An editor costs as much as several inputs.
const JSON_COST = 5;

const sum = (values: unknown[]): number =>
  values.reduce((total: number, value) => total + countFields(value), 0);
const largest = (values: unknown[]): number => Math.max(0, ...values.map(countFields));
const partsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const membersOf = (value: unknown): unknown[] => (isSchema(value) ? Object.values(value) : []);

/** The number of fields before items are added or other branches selected. */
export function countFields(drawn: unknown): number {
  if (!isSchema(drawn)) return 0;
  if (drawn.$id === JSON_FIELD) return JSON_COST;
  const branches = drawn[CHOICES] ? [] : [...partsOf(drawn.anyOf), ...partsOf(drawn.oneOf)];
  return (
    1 +
    sum(membersOf(drawn.properties)) +
    sum(partsOf(drawn.allOf)) +
    largest(branches) +
    largest([drawn.then, drawn.else]) +
    sum(membersOf(drawn.dependencies))
  );
}

export const hasTooManyFields = (drawn: Schema): boolean => countFields(drawn) - 1 > MAX_FIELDS;
