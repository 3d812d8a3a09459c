// Servers that were found: what each would be called here, and which of them can be added.
import type { FoundView } from "../../api/types";

/** Names that are taken. */
interface Names {
  has(name: string): boolean;
}

/** A variable that is not set can be set later; anything else wrong has to be mended first. */
export const canBeAdded = (one: FoundView): boolean =>
  one.problem === null || one.problem.details.variable !== undefined;

/** What is wrong, in short; null also where the field of an input asks for it. */
export function foundProblem(one: FoundView): string | null {
  const variable = one.problem?.details.variable;
  if (typeof variable !== "string") return one.problem?.message ?? null;
  const isAsked = one.inputs.some((input) => input.variable === variable);
  return isAsked ? null : `The environment variable ${variable} is not set.`;
}

const SPOKEN = { env: "Variables", headers: "Headers" };

/** What it is given besides its command or address, by name: values may be secret. */
export function variableAndHeaderNames({ raw }: FoundView): [string, string][] {
  return Object.entries(SPOKEN).flatMap(([key, what]): [string, string][] => {
    const names = Object.keys((raw[key] as object | null | undefined) ?? {});
    return names.length > 0 ? [[what, names.join(", ")]] : [];
  });
}

/** A name for each that neither another of them nor a server of ours has. */
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

/** The name, or the first with a number behind it that is free. */
export function freeName(name: string, taken: Names): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  return free;
}

/** Why a name cannot be used; null if it can. `others` are those that are added with it. */
export function nameProblemOf(name: string, known: Names, others: string[]): string | null {
  if (!name.trim() || name.includes("/")) return "A name is needed, without a slash.";
  if (known.has(name)) return "There is a server of this name already.";
  return others.includes(name) ? "Another one that is added has this name." : null;
}
