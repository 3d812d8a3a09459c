// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { nameIn } from "../../../raw/RawHistory";
import { bytesToSend, lineBreakNote } from "../../../raw/rawRequests";
import {
  initialMessage,
  restoreHeaders,
  type StashedMessage,
  stash,
} from "../../../state/rawDraft";
import { aServer } from "../../../testing/views";
import { trialMessage } from "./Experimental";

describe("the raw tester", () => {
  it("tries the first method that a capability names", () => {
    const methodOf = (value: unknown): unknown => JSON.parse(trialMessage(aServer(), value)).method;
    expect(methodOf({ methods: ["a/b", "a/c"] })).toBe("a/b");
    for (const odd of [{ methods: [] }, { methods: "a/b" }, {}, null, 4])
      expect(methodOf(odd)).toBe("experimental/method");
  });
  it("begins with what the revision of the server has, and says who asks where each request must", () => {
    expect(JSON.parse(initialMessage(aServer()))).toMatchObject({ method: "ping", params: {} });
    const stateless = aServer({
      protocol_version: "2026-07-28",
      declared_capabilities: { roots: {} },
    });
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      "io.modelcontextprotocol/clientInfo": { name: "mcplens", version: "0" },
    };
    const asked = { method: "server/discover", params: { _meta: meta } };
    expect(JSON.parse(initialMessage(stateless))).toMatchObject(asked);
    expect(JSON.parse(trialMessage(stateless, { methods: ["a/b"] })).params._meta).toEqual(meta);
  });
  it("says what becomes of line breaks", () => {
    const text = '{\n  "a": 1\n}';
    expect(bytesToSend(text, true)).toBe('{ "a": 1 }');
    expect(lineBreakNote(text, true)).toContain("become spaces");
    expect(lineBreakNote("{\n", true)).toContain("each of these lines");
    expect(bytesToSend("{\n", true)).toBe("{\n");
    expect(lineBreakNote(text, false)).toBeNull();
    expect(lineBreakNote("{}", true)).toBeNull();
  });
  it("names what a recorded request is about", () => {
    expect(nameIn('{"method":"tools/call","params":{"name": "echo","arg')).toBe("echo");
    expect(nameIn('{"method":"tools/list"}')).toBe("");
  });
  it("puts aside what somebody typed, and nothing else", () => {
    const typed = { text: "half", headers: [["a", "1"]] as [string, string][] };
    expect(stash(null, null, "new")).toBeNull();
    const first = stash(typed, null, "new") as StashedMessage;
    expect(first).toEqual({ former: typed, placed: "new" });
    const second = stash({ text: "new", headers: [] }, first, "newer");
    expect(second).toEqual({ former: typed, placed: "newer" });
    const other = { text: "newer, edited", headers: [] };
    expect(stash(other, second, "newest")?.former).toBe(other);
  });
  it("brings headers back, a secret one with the value that is typed already", () => {
    const given = { "X-Mode": "loud", Authorization: "", "X-Token": "" };
    expect(restoreHeaders(given, [["Authorization", "Bearer me"]])).toEqual([
      ["X-Mode", "loud"],
      ["Authorization", "Bearer me"],
      ["X-Token", ""],
    ]);
  });
});
