import { describe, expect, it } from "vitest";
import type { FoundView } from "../../api/types";
import { aServer } from "../../testing/views";
import { connectStepLabel, displayState, stateLabel } from "../../values/serverState";
import {
  foundProblems,
  freeName,
  nameProblemOf,
  placeOf,
  proposeNames,
  variableAndHeaderNames,
} from "./foundServers";
import { isCompleteTarget, isFileContent, joinLines } from "./pastedText";
import { formOf, parseDelays, problemOf, rawOf, restoreForm, withoutSecrets } from "./serverEntry";

const anError = (code: string, details = {}) => ({
  code,
  message: "it did not work",
  category: "connection" as const,
  retryable: false,
  details,
  helpUrl: "/docs/errors/x",
});

describe("what is kept of a form", () => {
  const entry = formOf("mine", {
    command: "x",
    env: { TOKEN: "••••", MODE: "fast" },
    profile: "p",
  });
  const typed = {
    ...entry,
    command: "y",
    env: [
      ["RENAMED", "••••"],
      ["NEW", "s3cret"],
    ] as [string, string][],
  };
  it("has no value of a variable or header", () => {
    const kept = JSON.stringify(withoutSecrets(typed, entry));
    expect(kept).not.toContain("s3cret");
    expect(kept).not.toContain("••••");
    expect(kept).not.toContain("fast");
  });
  it("is brought back over what the entry says by then", () => {
    const now = formOf("mine", { command: "x", env: { TOKEN: "•••" }, profile: "q" });
    const back = restoreForm(withoutSecrets(typed, entry), now);
    expect(back.env).toEqual([
      ["RENAMED", "•••"],
      ["NEW", ""],
    ]);
    expect(rawOf(back)).toMatchObject({ command: "y", profile: "q" });
  });
});

function aFound(name: string, kind: string, part: Partial<FoundView> = {}): FoundView {
  return {
    name,
    source: { kind, path: `/home/me/${kind}.json`, scope: "user" },
    transport: "stdio",
    shown: "x",
    command: ["x"],
    raw: { command: "x" },
    inputs: [],
    remarks: [],
    problem: null,
    problems: [],
    can_be_added: true,
    is_known: false,
    choices: [],
    choice: null,
    offer_id: null,
    tap: null,
    ...part,
  };
}

describe("a pasted text", () => {
  it("is one command in spite of blank lines around it and of continued lines", () => {
    expect(isFileContent("npx -y some-server\n")).toBe(false);
    expect(isFileContent("npx -y \\\n  some-server \\\r\n  --flag\n\n")).toBe(false);
    expect(joinLines("npx -y \\\n  some-server\n")).toBe("npx -y  some-server");
  });
  it("is a file where it has lines or is JSON", () => {
    expect(isFileContent('  {"mcpServers": {}}')).toBe(true);
    expect(isFileContent("extensions:\n  one:\n    cmd: x")).toBe(true);
    expect(isFileContent('```json\n{"a": {}}\n```')).toBe(true);
    expect(isFileContent("```sh\nnpx -y some-server\n```")).toBe(false);
  });
  it("is a piece of a file where it begins with a member, and a command where with a path", () => {
    expect(isFileContent('"weather": {"command": "npx"},')).toBe(true);
    expect(isFileContent('// ours\n"weather": {}')).toBe(true);
    expect(isFileContent('"C:\\Program Files\\node.exe" server.js')).toBe(false);
  });
  it("is read at once where it says enough", () => {
    expect(isCompleteTarget("npx")).toBe(false);
    expect(isCompleteTarget("npx -y some-server")).toBe(true);
    expect(isCompleteTarget("https://a.example/mcp\n")).toBe(true);
    expect(isCompleteTarget('{"a": {}}')).toBe(true);
  });
});

describe("servers that were found", () => {
  it("name what they are given, without its values", () => {
    const raw = { url: "https://a.example", headers: { "X-Key": "s3cret" }, env: null };
    expect(variableAndHeaderNames(aFound("one", "cursor", { raw }))).toEqual([
      ["Headers", "X-Key"],
    ]);
  });
  it("have a name each, and none that is here already", () => {
    const found = [
      aFound("github", "cursor"),
      aFound("github", "vscode"),
      aFound("github", "vscode"),
      aFound("mine", "vscode"),
      aFound("a/b", "vscode"),
    ];
    expect(proposeNames(found, ["mine"])).toEqual([
      "github",
      "github-vscode",
      "github-vscode-2",
      "mine-vscode",
      "a-b",
    ]);
  });
  it("say what is wrong or missing, but for what a field asks for", () => {
    const problem = anError("CONFIGURATION_INVALID");
    const missing = { key: "env.KEY", text: "KEY is not set", is_local: true, variable: "KEY" };
    const file = { key: "envFile", text: "no such file", is_local: true, variable: null };
    const input = {
      id: "key",
      variable: "KEY",
      description: "",
      default: null,
      choices: [],
      is_secret: true,
      is_required: true,
    };
    const one = aFound("x", "vscode", { problem, problems: [missing, file] });
    expect(foundProblems(one)).toEqual(["env.KEY: KEY is not set", "envFile: no such file"]);
    expect(foundProblems({ ...one, inputs: [input] })).toEqual(["envFile: no such file"]);
    // A file that cannot be read has no keys.
    expect(foundProblems(aFound("x", "vscode", { problem }))).toEqual(["it did not work"]);
  });
  it("of one name are told apart by tool, file and scope", () => {
    const path = "/home/me/.claude.json";
    const inScope = (scope: string) =>
      placeOf(aFound("github", "claude-code", { source: { kind: "claude-code", path, scope } }));
    expect(["user", "project", "local", "given"].map(inScope)).toEqual([
      `For you: ${path}`,
      `For this project: ${path}`,
      `For you, in this project: ${path}`,
      path,
    ]);
  });
  it("need a name that nobody has", () => {
    const known = new Set(["mine"]);
    expect(nameProblemOf("mine", known, [])).toContain("already");
    expect(nameProblemOf("other", known, ["other"])).toContain("Another");
    expect(nameProblemOf(" ", known, [])).toContain("Enter a name");
    expect(nameProblemOf("new", known, ["other"])).toBeNull();
  });
});

describe("a server's form", () => {
  it("begins with a name that is free", () => {
    const taken = new Set(["awk.py", "awk.py-2", "one"]);
    expect(freeName("awk.py", taken)).toBe("awk.py-3");
    expect(freeName("one", taken)).toBe("one-2");
    expect(freeName("two", taken)).toBe("two");
  });
  it("has every time of a connection, and keeps what it cannot show", () => {
    const raw = {
      command: "x",
      progressResetsTimeout: false,
      maxTotalTimeout: 9,
      retryBackoff: [1, 2],
      requestTimeout: "{TIMEOUT}",
    };
    const form = formOf("x", raw);
    expect([form.progressResetsTimeout, form.maxTotalTimeout, form.retryBackoff]).toEqual([
      "false",
      9,
      "1, 2",
    ]);
    expect(rawOf(form)).toEqual(raw);
  });
  it("knows other tools' words for a URL", () => {
    expect(rawOf(formOf("x", { serverUrl: "https://a" }))).toEqual({ url: "https://a" });
  });
  it("refuses a name that is there twice, of which one value would be lost", () => {
    const form = formOf("x", { command: "x", env: { A: "1", B: "2" } });
    form.env = [
      ["A", "1"],
      ["A", "2"],
    ];
    expect(problemOf(form)).toContain("A is there twice");
  });
  it("refuses waits that are none", () => {
    expect(parseDelays("1, 2 3")).toEqual([1, 2, 3]);
    expect(parseDelays("soon")).toBeNull();
    expect(problemOf({ ...formOf("x", { command: "x" }), retryBackoff: "soon" })).toContain(
      "waits",
    );
  });
});

describe("the state of a server", () => {
  it("is failed after it was given up, and a sign-in where that is missing", () => {
    const off = { state: "DISCONNECTED" as const };
    expect(displayState(aServer({ ...off, error: anError("CONNECTION_REFUSED") }))).toBe("ERROR");
    const unknown = aServer({ ...off, error: anError("AUTHENTICATION_FAILED") });
    expect([displayState(unknown), stateLabel(unknown)]).toEqual(["SIGN_IN", "Sign-in needed"]);
  });
  it("says what is waited for", () => {
    const words = (waiting_for: string | null) => connectStepLabel(aServer({ waiting_for }));
    expect(words("opening the transport")).toBe("Waiting for the transport");
    expect(words("waiting for the handshake")).toBe("Waiting for the handshake");
    expect(words(null)).toBe("Connecting");
  });
  it("counts attempts while they are made", () => {
    const retry = { count: 1, most: 3, at: 5 };
    const error = anError("AUTHENTICATION_FAILED");
    const waits = aServer({ state: "ERROR", error, retry });
    expect([displayState(waits), stateLabel(waits)]).toEqual([
      "ERROR",
      "Failed, retry 1 of 3 scheduled",
    ]);
  });
});
