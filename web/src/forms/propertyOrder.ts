// Order of properties in what a form sends: that of the schema, whatever was edited first.
import { isObject } from "../values/jsonObject";
import { isSchema, type Schema } from "./schema";

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A schema with its alternatives and parts, in the order in which a form shows their fields. */
function withParts(schema: unknown): Schema[] {
  if (!isSchema(schema)) return [];
  const { allOf, anyOf, oneOf, then, else: otherwise, dependencies } = schema;
  const needs = isSchema(dependencies) ? Object.values(dependencies) : [];
  const parts = [list(allOf), list(anyOf), list(oneOf), then, otherwise, needs].flat();
  return [schema, ...parts.flatMap(withParts)];
}

/** The schemas of each property that is described. */
function propertiesOf(schemas: Schema[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const { properties } of schemas)
    for (const [name, schema] of Object.entries(isSchema(properties) ? properties : {}))
      found.set(name, [...(found.get(name) ?? []), schema]);
  return found;
}

function ordered(schemas: unknown[], value: unknown): unknown {
  const parts = schemas.flatMap(withParts);
  if (Array.isArray(value)) {
    const items = parts.map((part) => part.items);
    return value.map((item) => ordered(items, item));
  }
  if (!isObject(value)) return value;
  const properties = propertiesOf(parts);
  const others = parts.map((part) => part.additionalProperties);
  const described = [...properties.keys()].filter((name) => Object.hasOwn(value, name));
  const added = Object.keys(value).filter((name) => !properties.has(name));
  return Object.fromEntries(
    [...described, ...added].map((name) => [
      name,
      ordered(properties.get(name) ?? others, value[name]),
    ]),
  );
}

/** The same value with the properties in the order of its schema, and others behind them. */
export const inSchemaOrder = (schema: unknown, value: unknown): unknown => ordered([schema], value);
