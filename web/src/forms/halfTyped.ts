// What is typed in a field and is no value yet: kept beside the arguments, so that it survives the
// switch to JSON and a reload. It counts as long as the arguments hold nothing at its place.
import { createContext, useContext } from "react";

export type HalfTyped = Readonly<Record<string, string>>;

interface Keeper {
  half: HalfTyped;
  keep(pointer: string, text: string | null): void;
}

export const HalfTypedContext = createContext<Keeper>({ half: {}, keep: () => undefined });

export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

export function useHalfTyped(
  path: readonly (string | number)[],
  value: unknown,
): [string | null, (text: string | null) => void] {
  const { half, keep } = useContext(HalfTypedContext);
  const pointer = pointerOf(path);
  // An item of a list cannot be left out, so it is null meanwhile.
  const text = value == null && Object.hasOwn(half, pointer) ? half[pointer] : undefined;
  return [text ?? null, (next) => keep(pointer, next)];
}
