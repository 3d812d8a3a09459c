import { describe, expect, it } from "vitest";
import { aServer } from "../testing/views";
import { formatTime } from "./format";
import { disconnectedText, failureTitle, strayLines } from "./serverState";

const AT = 1_700_000_000;
const exit = { pid: 1, exit_code: null, signal: "SIGKILL", at: AT, stopped_after_s: null };
const error = {
  code: "CONNECTION_LOST",
  message: "it broke off",
  category: "transport",
  retryable: true,
  details: {},
  helpUrl: "",
} as const;

describe("what a server printed to stdout", () => {
  const quoting = { ...error, details: { stdout: ["Listening"] } };
  it("is shown while it connects and when that failed, and not once it is connected", () => {
    expect(strayLines(aServer({ state: "CONNECTING", stray_lines: ["Hello"] }))).toEqual(["Hello"]);
    expect(strayLines(aServer({ state: "DISCONNECTED", error: quoting }))).toEqual(["Listening"]);
    expect(strayLines(aServer({ state: "CONNECTED", error: null }))).toEqual([]);
  });
});

describe("a server that is gone", () => {
  const at = formatTime(AT, false);
  const said = (given: Parameters<typeof aServer>[0]): string =>
    disconnectedText(
      aServer({ since: AT, exit: null, error: null, retry: null, ...given }),
      "awk.py",
    );

  it("is told of in a sentence", () => {
    const retry = { count: 1, most: 3, at: AT + 5 };
    expect(said({ state: "ERROR", error, exit, retry })).toBe(
      `awk.py was terminated by SIGKILL at ${at}; retry 1 of 3 is scheduled`,
    );
    expect(said({ state: "CONNECTING", exit, since: AT + 9, retry: { ...retry, at: null } })).toBe(
      `awk.py was terminated by SIGKILL at ${at}; retry 1 of 3 is in progress`,
    );
    expect(said({ state: "ERROR", exit: { ...exit, signal: null, exit_code: 3 } })).toBe(
      `awk.py ended with exit code 3 at ${at}`,
    );
    expect(said({ state: "ERROR", exit: { ...exit, stopped_after_s: 30 } })).toBe(
      `awk.py was stopped by mcplens after 30.0 s at ${at}`,
    );
    expect(said({ state: "ERROR", error })).toBe(`awk.py failed at ${at}: it broke off`);
    expect(said({ state: "DISCONNECTED" })).toBe(`awk.py has been disconnected since ${at}`);
    expect(said({ state: "CONNECTING" })).toBe("awk.py is being connected");
  });
});

describe("what is wrong with a server", () => {
  it("is its entry, before an attempt to connect and after it", () => {
    const problem = { ...error, code: "CONFIGURATION_INVALID" } as const;
    const words = [null, problem].map((seen) => failureTitle(aServer({ error: seen, problem })));
    expect(words).toEqual(["Invalid configuration", "Invalid configuration"]);
    expect(failureTitle(aServer({ error, problem: null }))).toBe("Connection Error");
  });
});
