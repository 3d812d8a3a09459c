import { describe, expect, it } from "vitest";
import { hasFeature, isOn, PARTS, TASKS_EXTENSION, withFeature, withNamed } from "./capabilities";

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
  it("keep the extension for tasks taken away while others change", () => {
    const without = withNamed(ours, "extensions", TASKS_EXTENSION, undefined);
    expect(without).toEqual({ extensions: { [TASKS_EXTENSION]: null } });
    expect(withNamed({ extensions: {} }, "extensions", "mine", {})).toEqual({
      extensions: { mine: {}, [TASKS_EXTENSION]: null },
    });
  });
});
