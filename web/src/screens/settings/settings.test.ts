import { describe, expect, it } from "vitest";
import type { SettingView } from "../../api/types";
import { groupSettings, labelOf, unitOf } from "./settingLabels";
import { parseNames, parseNumber, parseObject } from "./settingValues";

describe("what was typed for a setting", () => {
  it("is no number where the field was emptied", () => {
    expect(parseNumber("")).toHaveProperty("problem");
    expect(parseNumber("soon")).toHaveProperty("problem");
    expect(parseNumber("0")).toEqual({ value: 0 });
  });
  it("is an object where it is JSON, and a name in each line of a list", () => {
    expect(parseObject('{"a": 1}')).toEqual({ value: { a: 1 } });
    expect(parseObject("[]")).toEqual({ problem: "A JSON object is required." });
    expect(parseObject("[")).toHaveProperty("problem");
    expect(parseNames(" pin\r\n\nX-Key ")).toEqual(["pin", "X-Key"]);
  });
});

describe("settings in plain words", () => {
  const setting = (name: string) => ({ name }) as SettingView;
  it("stand in groups, and what is in none stands last", () => {
    const all = ["later", "taskTtlSeconds", "secretKeys", "requestTimeoutSeconds"].map(setting);
    expect(
      groupSettings(all).map(([title, some]) => [title, some.map(({ name }) => name)]),
    ).toEqual([
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
