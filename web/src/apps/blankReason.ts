// Why an app shows nothing, in one sentence.
import type { AppFindingView, DomainView, EventView } from "../api/types";
import type { AppState } from "./appState";

export interface Violation {
  directive: string;
  blocked: string;
  line: number | null;
}

/** The violations of its policy that a browser reported of an app, oldest first. */
export function violationsOf(events: readonly EventView[], appId: string): Violation[] {
  return events
    .filter(({ kind, detail }) => kind === "AppPolicyViolated" && detail.app_id === appId)
    .map(({ detail }) => ({
      // A finer name for what the lists of domains call script-src and style-src.
      directive: String(detail.directive ?? "").replace(/-(elem|attr)$/, ""),
      blocked: String(detail.blocked ?? ""),
      line: typeof detail.line === "number" ? detail.line : null,
    }));
}

// By the beginning of a directive, the list of domains that it is made of.
const LISTS: [string, string][] = [
  ["connect-src", "connectDomains"],
  ["frame-src", "frameDomains"],
  ["base-uri", "baseUriDomains"],
];

/** A violation in words, with what to declare. */
export function violationWords({ directive, blocked, line }: Violation): string {
  const where = line === null ? "" : ` (line ${line})`;
  if (!URL.canParse(blocked) || !/^(https?|wss?):/.test(blocked)) {
    const what = blocked ? `${blocked} code or content` : "something";
    return `${directive} blocks ${what}${where}, which no declaration allows`;
  }
  const { origin, protocol, host } = new URL(blocked);
  const declared = origin === "null" ? `${protocol}//${host}` : origin;
  const list = LISTS.find(([name]) => directive.startsWith(name))?.[1] ?? "resourceDomains";
  return `${directive} blocks ${blocked}${where}: declare ${declared} in csp.${list} of the resource`;
}

/** Whether the check of the HTML foretold a violation. */
const isForetold = ({ blocked }: Violation, { code, text }: AppFindingView): boolean =>
  code === "undeclared-origin" && text.startsWith(`${blocked} `);

/** Violations with the lines that the check of the HTML knows, and what else it found. */
export function knownLines(violations: Violation[], findings: AppFindingView[]) {
  const known = violations.map((one) => ({
    ...one,
    line: one.line ?? findings.find((finding) => isForetold(one, finding))?.line ?? null,
  }));
  const others = findings.filter((finding) => !violations.some((one) => isForetold(one, finding)));
  return { known, others };
}

interface Facts {
  /** Why it could not be opened. */
  problem: string | null;
  /** The port that the page cannot reach. */
  unreachable: number | null;
  state: AppState | null;
  /** Whether the app had time to begin. */
  isDue: boolean;
  violations: Violation[];
  findings: AppFindingView[];
  /** What its resource declares. */
  domains: DomainView[];
}

const found = (findings: AppFindingView[], code: string): string | null =>
  findings.find((one) => one.code === code)?.text ?? null;

/** The violation that kept the app's script from running. */
function blockedScript(violations: Violation[]): Violation | null {
  const script = violations.find(({ directive }) => directive.startsWith("script-src"));
  // Libraries try whether eval works, and go on without it.
  return script && script.blocked !== "eval" ? script : null;
}

/**
 * Whether an app has certainly drawn nothing: it may still begin, or it cannot. One that had time to
 * begin and said nothing may have drawn something all the same.
 */
export const hasDrawnNothing = ({ state, isDue, violations, findings }: Facts): boolean =>
  state?.phase === "loading" &&
  (!isDue || blockedScript(violations) !== null || found(findings, "empty") !== null);

function neverBegan({ violations, findings, domains }: Facts): string {
  const blocked = blockedScript(violations);
  const misplaced = found(findings, "policy-on-tool") ? " The csp on the tool is ignored." : "";
  if (blocked) {
    const words = knownLines([blocked], findings).known.map(violationWords).join();
    return `The app is blank because ${words}.${misplaced}`;
  }
  const needed = domains.filter(({ key, refusal }) => key === "resourceDomains" && !refusal);
  if (needed.length > 0) {
    const hosts = [...new Set(needed.map(({ value }) => value))].slice(0, 3);
    const them = hosts.length > 1 ? "them" : "it";
    return `The app never sent ui/initialize: it loads code from ${hosts.join(", ")}, so check that this computer can reach ${them}.`;
  }
  const storage = found(findings, "storage");
  if (storage) return `The app never sent ui/initialize: ${storage}.`;
  const cause = found(findings, "no-hello") ?? found(findings, "empty");
  if (cause) return `The app is blank: ${cause}.`;
  const other = violations[0];
  if (other) return `The app never sent ui/initialize: ${violationWords(other)}.`;
  return "The app never sent ui/initialize: its script may have failed, see the browser's console.";
}

/** Why an app shows nothing; null while it may still begin, or if it shows something. */
export function blankReason(facts: Facts): string | null {
  const { problem, unreachable, state, isDue, findings } = facts;
  if (problem) return `There is no app to show: ${problem.replace(/\.$/, "")}.`;
  if (unreachable !== null)
    return `This page cannot reach port ${unreachable}, where apps are served: forward it too, for example with ssh -L ${unreachable}:127.0.0.1:${unreachable}.`;
  if (!state || !isDue) return null;
  if (state.phase === "loading") return neverBegan(facts);
  if (state.phase === "initializing") {
    const cause = found(findings, "null-field") ?? "it did not accept the answer to ui/initialize";
    return `The app never sent ui/notifications/initialized: ${cause}.`;
  }
  if (state.phase === "initialized" && state.size?.height === 0)
    return "The app says that it is 0 px high: it sent ui/notifications/size-changed with that height.";
  return null;
}

/** A note about an app that runs, but may be cut off. */
export const sizeNote = (state: AppState, isDue: boolean): string | null =>
  isDue && state.phase === "initialized" && state.size === null
    ? "The app never reported its size, so it may be cut off."
    : null;
