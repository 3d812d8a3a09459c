// What a JSON value is, whoever sent it. Pure.
import { ExactNumber } from "./exactJson";

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
