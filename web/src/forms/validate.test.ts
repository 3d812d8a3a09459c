import { describe, expect, it } from "vitest";
import { draftOf, isValid, validate } from "./validate";

describe("validate", () => {
  const schema = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  };

  it("finds nothing wrong with a value that fits", () => {
    expect(validate(schema, { name: "x", age: 1 })).toEqual([]);
  });
  it("names what is missing by its own place", () => {
    expect(validate(schema, {})).toEqual([{ pointer: "/name", message: "This is required." }]);
  });
  it("tells the innermost fault only", () => {
    const [finding, ...more] = validate(schema, { name: "x", age: -1 });
    expect(finding?.pointer).toBe("/age");
    expect(more).toEqual([]);
  });
  it("takes the draft from $schema, and the newest where none is named", () => {
    expect(draftOf({ $schema: "http://json-schema.org/draft-07/schema#" })).toBe("7");
    expect(draftOf({})).toBe("2020-12");
    expect(isValid({ prefixItems: [{ type: "string" }] }, [1])).toBe(false);
  });
  it("leaves the schema as it was", () => {
    const frozen = Object.freeze({ type: "object", properties: Object.freeze({}) });
    expect(validate(frozen, {})).toEqual([]);
  });
  it("says so where a schema cannot be used", () => {
    expect(validate({ $ref: "#/$defs/none" }, {})[0]?.message).toContain("schema");
  });
});
