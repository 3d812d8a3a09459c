import { describe, expect, it } from "vitest";
import type { AppFindingView } from "../api/types";
import { type AppState, initialState } from "./appState";
import {
  blankReason,
  hasDrawnNothing,
  knownLines,
  sizeNote,
  violationsOf,
  violationWords,
} from "./blankReason";

const state = (part: Partial<AppState> = {}): AppState => ({ ...initialState("inline"), ...part });
const facts = {
  problem: null,
  unreachable: null,
  state: state(),
  isDue: true,
  violations: [],
  findings: [],
  domains: [],
};
const finding = (code: string, text: string, line: number | null = null): AppFindingView => ({
  code,
  severity: "error",
  text,
  line,
});
const SCRIPT = "https://cdn.example/a.js";

describe("a blank app is explained in one sentence", () => {
  it("that cannot be read, or whose port cannot be reached", () => {
    expect(blankReason({ ...facts, problem: "the type is text/html" })).toBe(
      "There is no app to show: the type is text/html.",
    );
    expect(blankReason({ ...facts, unreachable: 6281 })).toContain("ssh -L 6281:127.0.0.1:6281");
  });
  it("whose script is blocked: the line, the directive and the domain to declare", () => {
    const violations = [{ directive: "script-src", blocked: SCRIPT, line: null }];
    const findings = [
      finding("undeclared-origin", `${SCRIPT} is blocked by script-src`, 6),
      finding("policy-on-tool", "csp is declared on the tool"),
    ];
    expect(blankReason({ ...facts, violations, findings })).toBe(
      `The app is blank because script-src blocks ${SCRIPT} (line 6): declare https://cdn.example in csp.resourceDomains of the resource. The csp on the tool is ignored.`,
    );
  });
  it("that uses storage, says no hello, or whose script fails", () => {
    const stored = [finding("storage", "it uses localStorage, which throws")];
    expect(blankReason({ ...facts, findings: stored })).toContain("it uses localStorage");
    const silent = [finding("no-hello", "it has no script that sends ui/initialize")];
    expect(blankReason({ ...facts, findings: silent })).toContain("no script that sends");
    expect(blankReason(facts)).toContain("never sent ui/initialize");
    // Libraries try eval, and go on without it.
    const probe = [{ directive: "script-src", blocked: "eval", line: 1 }];
    expect(blankReason({ ...facts, violations: probe, findings: silent })).toContain("no script");
  });
  it("that loads code from elsewhere, which may be out of reach", () => {
    const domains = [
      { key: "resourceDomains", value: "https://cesium.com", refusal: null },
      { key: "resourceDomains", value: "http://localhost", refusal: "private" },
    ];
    expect(blankReason({ ...facts, domains })).toBe(
      "The app never sent ui/initialize: it loads code from https://cesium.com, so check that this computer can reach it.",
    );
  });
  it("that does not accept the answer, for a null or another reason", () => {
    const begun = state({ phase: "initializing" });
    expect(blankReason({ ...facts, state: begun })).toContain("did not accept the answer");
    const findings = [finding("null-field", "icons is null in the tool's definition")];
    expect(blankReason({ ...facts, state: begun, findings })).toContain("icons is null");
  });
  it("that has no height; one that never said its size is noted", () => {
    const flat = state({ phase: "initialized", size: { height: 0 } });
    expect(blankReason({ ...facts, state: flat })).toContain("0 px high");
    const unsized = state({ phase: "initialized" });
    expect(blankReason({ ...facts, state: unsized })).toBeNull();
    expect(sizeNote(unsized, true)).toContain("cut off");
    expect(sizeNote(unsized, false)).toBeNull();
  });
  it("but not before it had time", () => {
    expect(blankReason({ ...facts, isDue: false })).toBeNull();
  });
});

it("has certainly drawn nothing until it had time to, or if its script is blocked", () => {
  expect(hasDrawnNothing({ ...facts, isDue: false })).toBe(true);
  const violations = [{ directive: "script-src", blocked: SCRIPT, line: null }];
  expect(hasDrawnNothing({ ...facts, violations })).toBe(true);
  expect(hasDrawnNothing({ ...facts, findings: [finding("empty", "no HTML")] })).toBe(true);
  // Without a word to the host it may have drawn, as any page does.
  expect(hasDrawnNothing(facts)).toBe(false);
  const running = state({ phase: "initialized" });
  expect(hasDrawnNothing({ ...facts, violations, state: running, isDue: false })).toBe(false);
});

it("joins a violation with the line where the HTML has it, and says nothing twice", () => {
  const blocked = finding("undeclared-origin", `${SCRIPT} is blocked by script-src`, 6);
  const other = finding("refused-domain", `${SCRIPT} in csp.resourceDomains is left out`);
  const violations = [{ directive: "script-src", blocked: SCRIPT, line: null }];
  expect(knownLines(violations, [blocked, other])).toEqual({
    known: [{ directive: "script-src", blocked: SCRIPT, line: 6 }],
    others: [other],
  });
});

it("says of each violation what to declare, if anything", () => {
  const words = (directive: string, blocked: string, line: number | null = null) =>
    violationWords({ directive, blocked, line });
  expect(words("connect-src", "wss://a.example/x", 3)).toBe(
    "connect-src blocks wss://a.example/x (line 3): declare wss://a.example in csp.connectDomains of the resource",
  );
  expect(words("frame-src", "https://a.example")).toContain("csp.frameDomains");
  expect(words("script-src", "eval")).toContain("which no declaration allows");
});

it("takes the violations of one app from the events", () => {
  const event = (app_id: string, kind = "AppPolicyViolated") =>
    ({ kind, detail: { app_id, directive: "script-src-elem", blocked: "x" } }) as never;
  expect(
    violationsOf([event("app-1"), event("app-2"), event("app-1", "AppOpened")], "app-1"),
  ).toEqual([{ directive: "script-src", blocked: "x", line: null }]);
});
