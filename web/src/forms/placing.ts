// Values set from outside their field: what stands around a list or an object has no other way.
import { createContext, useContext } from "react";
import { isSchema } from "./schema";

type Path = readonly (string | number)[];
interface Placing {
  /** The arguments as they are sent; the form library makes an empty list of null. */
  value: unknown;
  put(path: Path, value: unknown): void;
}

export const PlacingContext = createContext<Placing>({ value: {}, put: () => undefined });

/** The value at this place, and how to set it. */
export function useAt(path: Path): [unknown, (value: unknown) => void] {
  const { value, put: set } = useContext(PlacingContext);
  const at = path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );
  return [at, (next) => set(path, next)];
}

/** The value with another one at this place; what is undefined is left out. */
export function put(into: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const isIndex = typeof key === "number";
  const held = Array.isArray(into) ? [...into] : isSchema(into) ? { ...into } : isIndex ? [] : {};
  const holder = held as Record<string | number, unknown>;
  const next: unknown = put(Object.hasOwn(holder, key) ? holder[key] : undefined, rest, value);
  if (next !== undefined) holder[key] = next;
  else if (!isIndex) delete holder[key];
  else holder[key] = null;
  return held;
}
