// Type checks for JSON values.
import { ExactNumber } from "./exactJson";

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);

/** The fields of an object; empty for any other value. */
export const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
