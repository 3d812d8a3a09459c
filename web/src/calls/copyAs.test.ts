// What is copied is pasted into a shell: whatever a server calls its things, nothing of it may run.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { aCall, aServer } from "../testing/views";
import { asCommand, asCurl, isSafeCommand, shellQuote } from "./copyAs";

// Instead of the programs: print the words that they were given.
const STAND_IN = `words() { printf '%s\\0' "$@"; }; mcplens() { words "$@"; }; curl() { words "$@"; }; `;
const wordsOf = (text: string): string[] =>
  execFileSync("bash", ["--norc", "-c", STAND_IN + text], { encoding: "utf8", env: {} })
    .split("\0")
    .slice(0, -1);

const NAMES = [
  "$(echo run)",
  "`echo run`",
  "a'; echo run; '",
  'it\'s \\ "odd" !!',
  "\u001b]0;title\u0007 and \u0015 cleared",
  "one\ntwo\r\nthree' $(echo run) \\x41",
  "\u009b31m \u202egnp.exe \u2028",
  "naïve 🦊 ",
];

describe("a copied command", () => {
  it.each(NAMES)("has a name of the server's as one word: %j", (name) => {
    expect(wordsOf(`words ${shellQuote(name)}`)).toEqual([name]);
    // Nothing that a terminal acts on is pasted.
    expect(shellQuote(name)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const call = aCall({ name });
    const given = { name, arguments: { [name]: name } };
    expect(wordsOf(asCommand(call, given, aServer()))).toEqual([
      "call",
      "demo",
      name,
      "--args",
      JSON.stringify({ [name]: name }),
    ]);
  });
  it("takes no name for an option", () => {
    const given = { name: "--config=x", arguments: {} };
    const words = wordsOf(asCommand(aCall({ name: "--config=x" }), given, aServer()));
    expect(words).toEqual(["request", "demo", "tools/call", JSON.stringify(given)]);
  });
  it("holds no header whose name would run, and says that it cannot be made", () => {
    const server = aServer({
      source: { kind: "command line", path: "", scope: "given" },
      command: null,
      url: "http://127.0.0.1:9/$(echo run)",
      header_names: ["X-`echo run`", "$(echo run)", 'a"; echo run; "', "X-Api.Key_2"],
      protocol_version: "'; echo run; '",
    });
    expect(isSafeCommand(aCall(), server)).toBe(false);
    const request = { name: "add", arguments: {} };
    const header = "X-Api.Key_2: ";
    expect(wordsOf(asCommand(aCall(), request, server)).slice(-2)).toEqual(["-H", header]);
    const words = wordsOf(asCurl(aCall(), request, server));
    expect(words.filter((word) => word.includes("echo run"))).toEqual([
      "http://127.0.0.1:9/$(echo run)",
      "MCP-Protocol-Version: '; echo run; '",
    ]);
    expect(words).toContain(header);
    const plain = { ...server, header_names: ["Authorization"] };
    expect(isSafeCommand(aCall(), plain)).toBe(true);
    expect(isSafeCommand(aCall({ headers: { "$(echo run)": "1" } }), plain)).toBe(false);
  });
});
