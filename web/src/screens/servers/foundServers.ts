// Found servers: names to use, and which can be added.
import type { FoundView } from "../../api/types";

/** Names in use. */
interface Names {
  has(name: string): boolean;
}

/** What is wrong or missing, without what an input field asks for. */
export function foundProblems(one: FoundView): string[] {
  const asked = new Set(one.inputs.map((input) => input.variable));
  const told = one.problems.filter(({ variable }) => variable === null || !asked.has(variable));
  if (one.problem && one.problems.length === 0) return [one.problem.message];
  return told.map(({ key, text }) => (key ? `${key}: ${text}` : text));
}

const SCOPES: Record<string, string> = {
  user: "For you",
  project: "For this project",
  local: "For you, in this project",
};

/** Where a server was found: tools, files and scopes of one file may use the same name. */
export const placeOf = ({ source }: FoundView): string =>
  [SCOPES[source.scope], source.path].filter(Boolean).join(": ");

const TOOL_TITLES: Record<string, string> = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
  windsurf: "Windsurf",
  gemini: "Gemini CLI",
  codex: "Codex",
  goose: "Goose",
};

/** The name of a tool that a server was found in. */
export const toolTitle = (kind: string): string => TOOL_TITLES[kind] ?? kind;

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
