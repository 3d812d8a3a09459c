// The whole value of a form, for controls that set a value outside of their own field: those around
// a list or an object.
import { createContext, useContext } from "react";
import { isSchema } from "./schema";

type Path = readonly (string | number)[];
interface FormValue {
  /** The arguments as they are sent; the form library turns null into an empty list. */
  value: unknown;
  set(path: Path, value: unknown): void;
}

export const FormValueContext = createContext<FormValue>({ value: {}, set: () => undefined });

/** Path of a multiple choice, to which the library gives an empty list where nothing is sent. */
export const ListPathContext = createContext<Path>([]);

/** The value at a path, and its setter. */
export function useValueAt(path: Path): [unknown, (value: unknown) => void] {
  const { value, set } = useContext(FormValueContext);
  const at = path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );
  return [at, (next) => set(path, next)];
}

/** A copy with another value at a path; undefined removes it. */
export function withValueAt(into: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const isIndex = typeof key === "number";
  const held = Array.isArray(into) ? [...into] : isSchema(into) ? { ...into } : isIndex ? [] : {};
  const holder = held as Record<string | number, unknown>;
  const next: unknown = withValueAt(
    Object.hasOwn(holder, key) ? holder[key] : undefined,
    rest,
    value,
  );
  if (next !== undefined) holder[key] = next;
  else if (!isIndex) delete holder[key];
  else holder[key] = null;
  return held;
}
