import { describe, expect, it } from "vitest";
import { typedJson, typedNumber } from "./setting";

describe("what was typed for a setting", () => {
  it("is no number where the field was emptied", () => {
    expect(typedNumber("")).toHaveProperty("problem");
    expect(typedNumber("soon")).toHaveProperty("problem");
    expect(typedNumber("0")).toEqual({ value: 0 });
  });
  it("is JSON of the same kind as the default", () => {
    expect(typedJson('["a"]', [])).toEqual({ value: ["a"] });
    expect(typedJson("{}", [])).toEqual({ problem: "An array is needed." });
    expect(typedJson("[]", {})).toEqual({ problem: "An object is needed." });
    expect(typedJson("[", [])).toHaveProperty("problem");
  });
});
