import { describe, expect, it } from "vitest";
import { SKILLS_EXTENSION, TASKS_EXTENSION, UI_EXTENSION } from "../../state/protocol";
import { aServer } from "../../testing/views";
import {
  hasFeature,
  isLeftOut,
  isOn,
  PARTS,
  revisionNote,
  rootsText,
  withFeature,
  withNamed,
} from "./capabilities";

const part = (name: string) => {
  const found = PARTS.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};

describe("capabilities that we declare", () => {
  const ours = {
    sampling: { tools: {}, context: {} },
    roots: { listChanged: false },
    extensions: { [TASKS_EXTENSION]: {} },
  };
  it("are read part by part", () => {
    expect([isOn(ours, "sampling"), isOn(ours, "elicitation")]).toEqual([true, false]);
    expect(hasFeature(ours, "sampling", "tools")).toBe(true);
    expect(hasFeature(ours, "roots", "listChanged")).toBe(false);
  });
  it("change by one feature", () => {
    expect(withFeature(ours, part("sampling"), "tools", false)).toEqual({
      sampling: { context: {} },
    });
    expect(withFeature(ours, part("roots"), "listChanged", true)).toEqual({
      roots: { listChanged: true },
    });
  });
  it("take names of any value, and give them up", () => {
    const added = withNamed(ours, "experimental", "mine", { level: 2 });
    expect(added).toEqual({ experimental: { mine: { level: 2 } } });
    expect(withNamed(added, "experimental", "mine", undefined)).toEqual({ experimental: null });
  });
  it("keep an extension that is declared by default taken away while others change", () => {
    const without = withNamed(ours, "extensions", TASKS_EXTENSION, undefined);
    const none = { [TASKS_EXTENSION]: null, [UI_EXTENSION]: null, [SKILLS_EXTENSION]: null };
    expect(without).toEqual({ extensions: none });
    expect(withNamed({ extensions: {} }, "extensions", "mine", {})).toEqual({
      extensions: { mine: {}, ...none },
    });
  });
  it("say which of them the revision that is spoken does not have", () => {
    const at = (protocol_version: string | null) => (name: string) =>
      revisionNote(aServer({ protocol_version }), name);
    const [first, second, last] = ["2024-11-05", "2025-11-25", "2026-07-28"].map(at);
    const names = ["sampling", "elicitation", "elicitation.url", "roots.listChanged", "tasks"];
    expect(names.map((name) => first?.(name))).toEqual([
      null,
      "Not in 2024-11-05",
      "Not in 2024-11-05",
      null,
      "Not in 2024-11-05",
    ]);
    expect(names.map((name) => second?.(name))).toEqual([null, null, null, null, null]);
    expect(second?.("extensions")).toBe("Not in 2025-11-25");
    expect(names.map((name) => last?.(name))).toEqual([
      null,
      null,
      null,
      "Not in 2026-07-28, so it is not sent",
      "Not in 2026-07-28, so it is not sent",
    ]);
    expect(names.map(at(null))).toEqual([null, null, null, null, null]);
    // An older server is sent what it does not know, and may be tested with it.
    expect(isLeftOut(aServer({ protocol_version: "2024-11-05" }), "tasks")).toBe(false);
  });
  it("say whether what a revision does not have was sent", () => {
    const declared_capabilities = { extensions: { [TASKS_EXTENSION]: {} }, sampling: {} };
    const server = aServer({ protocol_version: "2025-06-18", declared_capabilities });
    expect(revisionNote(server, "extensions")).toBe("Not in 2025-06-18, but sent all the same");
    expect(revisionNote(server, "sampling.tools")).toBe("Not in 2025-06-18");
    expect(revisionNote(server, "tasks")).toBe("Not in 2025-06-18");
  });
  it("decide what a server learns of its roots", () => {
    const words = (part: Parameters<typeof aServer>[0]) => rootsText(aServer(part));
    expect(words({ state: "DISCONNECTED" })).toContain("when it is connected");
    expect(words({ declared_capabilities: {} })).toContain("cannot ask");
    const roots = { listChanged: true };
    expect(words({ declared_capabilities: { roots } })).toBe("It is notified when they change.");
    expect(words({ declared_capabilities: { roots: {} } })).toContain("switched off");
    const stateless = { protocol_version: "2026-07-28", declared_capabilities: { roots: {} } };
    expect(words(stateless)).toContain("2026-07-28 has no notification of changes");
  });
});
