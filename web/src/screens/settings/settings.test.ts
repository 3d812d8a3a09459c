import { describe, expect, it } from "vitest";
import type { SettingView } from "../../api/types";
import { grouped, labelOf, unitOf } from "./labels";
import { typedJson, typedNames, typedNumber } from "./setting";

describe("what was typed for a setting", () => {
  it("is no number where the field was emptied", () => {
    expect(typedNumber("")).toHaveProperty("problem");
    expect(typedNumber("soon")).toHaveProperty("problem");
    expect(typedNumber("0")).toEqual({ value: 0 });
  });
  it("is an object where it is JSON, and a name in each line of a list", () => {
    expect(typedJson('{"a": 1}')).toEqual({ value: { a: 1 } });
    expect(typedJson("[]")).toEqual({ problem: "An object is needed." });
    expect(typedJson("[")).toHaveProperty("problem");
    expect(typedNames(" pin\r\n\nX-Key ")).toEqual(["pin", "X-Key"]);
  });
});

describe("settings in plain words", () => {
  const setting = (name: string) => ({ name }) as SettingView;
  it("stand in groups, and what is in none stands last", () => {
    const all = ["later", "taskTtlSeconds", "secretKeys", "requestTimeoutSeconds"].map(setting);
    expect(grouped(all).map(([title, some]) => [title, some.map(({ name }) => name)])).toEqual([
      ["Calls and tasks", ["requestTimeoutSeconds", "taskTtlSeconds"]],
      ["Recording", ["secretKeys"]],
      ["Others", ["later"]],
    ]);
  });
  it("have a unit where they are a time, and their key where there is no word yet", () => {
    expect(["taskTtlSeconds", "cacheTtlMs", "profiles"].map(setting).map(unitOf)).toEqual([
      "s",
      "ms",
      null,
    ]);
    expect(labelOf(setting("later"))).toBe("later");
  });
});
