// How much of a prepared schema a form draws at once, and whether that is too much for a page.
import { CHOICES, isSchema, JSON_FIELD, type Schema } from "./schema";

/** More fields than this take a page seconds to draw, and no person fills them in. */
export const MAX_FIELDS = 300;

// An editor costs as much as several inputs.
const JSON_COST = 5;

const sum = (values: unknown[]): number =>
  values.reduce((total: number, value) => total + countFields(value), 0);
const largest = (values: unknown[]): number => Math.max(0, ...values.map(countFields));
const partsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const membersOf = (value: unknown): unknown[] => (isSchema(value) ? Object.values(value) : []);

/** The fields that are there before anybody adds an item or chooses another branch. */
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
