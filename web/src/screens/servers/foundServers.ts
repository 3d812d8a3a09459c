// Found servers: names to use, and which can be added.
import type { FoundView } from "../../api/types";

/** Names in use. */
interface Names {
  has(name: string): boolean;
}

/** A missing variable can be set later; other problems must be fixed first. */
export const canBeAdded = (one: FoundView): boolean =>
  one.problem === null || one.problem.details.variable !== undefined;

/** Short problem; null if an input field asks for the missing value. */
export function foundProblem(one: FoundView): string | null {
  const variable = one.problem?.details.variable;
  if (typeof variable !== "string") return one.problem?.message ?? null;
  const isAsked = one.inputs.some((input) => input.variable === variable);
  return isAsked ? null : `The environment variable ${variable} is not set.`;
}

const SPOKEN = { env: "Variables", headers: "Headers" };

/** Names of environment variables and headers; values may be secret. */
export function variableAndHeaderNames({ raw }: FoundView): [string, string][] {
  return Object.entries(SPOKEN).flatMap(([key, what]): [string, string][] => {
    const names = Object.keys((raw[key] as object | null | undefined) ?? {});
    return names.length > 0 ? [[what, names.join(", ")]] : [];
  });
}

/** A unique name for each found server. */
export function proposeNames(found: FoundView[], known: Iterable<string>): string[] {
  const taken = new Set(known);
  return found.map((one) => {
    const base = one.name.replaceAll("/", "-");
    const named = `${base}-${one.source.kind}`;
    let name = taken.has(base) ? named : base;
    for (let number = 2; taken.has(name); number += 1) name = `${named}-${number}`;
    taken.add(name);
    return name;
  });
}

/** The name, or the first free one with a number suffix. */
export function freeName(name: string, taken: Names): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  return free;
}

/** Why a name cannot be used; null if it can. `others` are added together with it. */
export function nameProblemOf(name: string, known: Names, others: string[]): string | null {
  if (!name.trim() || name.includes("/")) return "Enter a name without a slash.";
  if (known.has(name)) return "A server with this name already exists.";
  return others.includes(name) ? "Another server in this list has this name." : null;
}
