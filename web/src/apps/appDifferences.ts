// How one app fares in two hosts: what differs, in words.
import type { AppView } from "../api/types";
import type { AppState } from "./appState";
import { type Violation, violationWords } from "./blankReason";
import type { HostSettings } from "./hostSettings";

/** What is known of an app in one host. */
export interface AppRun {
  view: AppView | null;
  state: AppState | null;
  violations: Violation[];
  /** Why it is blank; null if it is not. */
  reason: string | null;
  settings: HostSettings;
}

export interface Difference {
  what: string;
  left: string;
  right: string;
}

const NOTHING = "–";

const lines = (texts: string[]): string => [...new Set(texts)].join("\n") || NOTHING;

/** By what is compared, its words in one host. */
const FACTS: [string, (run: AppRun) => string][] = [
  ["Shown", ({ reason, state }) => reason ?? (state?.phase === "initialized" ? "yes" : NOTHING)],
  ["Height", ({ state }) => (state?.size?.height ? `${state.size.height} px` : NOTHING)],
  ["Blocked", ({ violations }) => lines(violations.map(violationWords))],
  [
    "Refused",
    ({ state }) =>
      lines((state?.refusals ?? []).map(({ method, reason }) => `${method}: ${reason}`)),
  ],
  ["Capabilities", ({ settings }) => lines(settings.capabilities)],
  ["Display modes", ({ settings }) => lines(settings.modes)],
  ["Policy", ({ view }) => lines(view?.policy.split("; ") ?? [])],
];

const without = (text: string, other: string): string => {
  const known = new Set(other.split("\n"));
  return lines(text.split("\n").filter((line) => line !== NOTHING && !known.has(line)));
};

/** What differs between two hosts; of lists only the lines that the other has not. */
export function appDifferences(left: AppRun, right: AppRun): Difference[] {
  return FACTS.flatMap(([what, of]) => {
    const [one, other] = [of(left), of(right)];
    if (one === other) return [];
    const isList = one.includes("\n") || other.includes("\n");
    return isList
      ? [{ what, left: without(one, other), right: without(other, one) }]
      : [{ what, left: one, right: other }];
  });
}
