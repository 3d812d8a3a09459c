import { describe, expect, it } from "vitest";
import {
  draftOf,
  invalidFieldsLabel,
  isValid,
  partsOf,
  placeOf,
  shownFindings,
  validate,
} from "./validate";

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
  it.each(["100%", "a/b", "a~b", "%2F", "a#b", "größe", ""])("points at “%s”", (name) => {
    const required = validate({ type: "object", required: [name] }, {});
    const wrong = validate({ properties: { [name]: { type: "string" } } }, { [name]: 1 });
    for (const finding of [...required, ...wrong]) expect(partsOf(finding.pointer)).toEqual([name]);
    expect(required.length + wrong.length).toBe(2);
  });
  it("says where in words", () => {
    expect(placeOf({ pointer: "/people/0/first name", message: "" })).toBe(
      'people[0]."first name"',
    );
    expect(placeOf({ pointer: "", message: "" })).toBe("The whole value");
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
  it("does not begin what has no end, and checks what only looks large", () => {
    const chain = (width: number): object => {
      const $defs: Record<string, object> = { d0: { type: "string" } };
      for (let at = 1; at < 12; at += 1)
        $defs[`d${at}`] = { allOf: Array(width).fill({ $ref: `#/$defs/d${at - 1}` }) };
      return { type: "object", $defs, properties: { x: { $ref: "#/$defs/d11" } } };
    };
    expect(validate(chain(10), { x: 1 })).toEqual([]);
    expect(validate(chain(1), { x: 1 })).toHaveLength(1);
    const many = Array.from({ length: 30_000 }, (_, at) => [`f${at}`, { type: "string" }]);
    expect(validate({ properties: Object.fromEntries(many) }, { f9: 1 })).toHaveLength(1);
  });
});

describe("what is said of findings beside the button that sends", () => {
  const at = (pointer: string, isAtField = false) => ({ pointer, message: "wrong", isAtField });
  it("counts fields, not what is wrong with each", () => {
    expect(invalidFieldsLabel([at("/a"), at("/a")])).toBe("1 field is not valid");
    expect(invalidFieldsLabel([at("/a"), at("/b"), at("")])).toBe("2 fields are not valid");
    expect(invalidFieldsLabel([at("")])).toBe("The whole value is not valid");
  });
  it("is said of a field at once that says it itself, of others once sending was tried", () => {
    const both = [at("/a"), at("/b", true)];
    expect(shownFindings(both, false)).toEqual([both[1]]);
    expect(shownFindings(both, true)).toEqual(both);
  });
});
