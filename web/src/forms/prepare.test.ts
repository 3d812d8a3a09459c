import { describe, expect, it } from "vitest";
import { isWithoutFields, JSON_FIELD, lookUp, prepare, type Schema } from "./prepare";

const property = (schema: unknown, root: Schema = {}): Schema => {
  const prepared = prepare({ ...root, type: "object", properties: { it: schema } });
  return (prepared?.properties as Record<string, Schema> | undefined)?.it ?? {};
};

describe("prepare", () => {
  it("writes local references out", () => {
    const root = { $defs: { size: { type: "integer", minimum: 1 } } };
    expect(property({ $ref: "#/$defs/size", title: "Size" }, root)).toEqual({
      type: "integer",
      minimum: 1,
      title: "Size",
    });
  });
  it("makes the inner part of a recursive schema a JSON field", () => {
    const root = {
      $defs: {
        node: {
          type: "object",
          properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } },
        },
      },
    };
    const node = property({ $ref: "#/$defs/node" }, root);
    expect((node.properties as Record<string, Schema>).name).toEqual({ type: "string" });
    expect((node.properties as Record<string, Schema>).next?.$id).toBe(JSON_FIELD);
  });
  it("takes null away, whichever way it is said", () => {
    expect(property({ type: ["string", "null"] }).type).toBe("string");
    expect(
      property({ anyOf: [{ type: "integer" }, { type: "null" }], default: null, title: "N" }),
    ).toEqual({ type: "integer", title: "N" });
  });
  it("keeps titled choices, and marks several of them as such", () => {
    const choices = [
      { const: "a", title: "A" },
      { const: "b", title: "B" },
    ];
    expect(property({ type: "string", oneOf: choices }).oneOf).toEqual(choices);
    expect(property({ type: "array", items: { anyOf: choices } }).uniqueItems).toBe(true);
    expect(property({ type: "array", items: { type: "string", enum: ["a"] } }).uniqueItems).toBe(
      true,
    );
    expect(property({ type: "array", items: { type: "string" } }).uniqueItems).toBeUndefined();
  });
  it.each([
    ["anything", {}],
    ["true", true],
    ["two types", { type: ["string", "integer"] }],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }],
    ["an older tuple", { type: "array", items: [{ type: "string" }] }],
    ["a free object", { type: "object" }],
    ["a list of anything", { type: "array" }],
    ["a reference to nowhere", { $ref: "#/$defs/none" }],
    ["a reference to elsewhere", { $ref: "https://example.com/schema" }],
  ])("makes %s a JSON field", (_, schema) => {
    expect(property(schema).$id).toBe(JSON_FIELD);
  });
  it("keeps an object of named values, and branches that are no choices", () => {
    expect(
      property({ type: "object", additionalProperties: { type: "string" } }).additionalProperties,
    ).toEqual({ type: "string" });
    expect(property({ oneOf: [{ type: "string" }, { type: "integer" }] }).oneOf).toEqual([
      { type: "string", title: "string" },
      { type: "integer", title: "integer" },
    ]);
  });
  it("stops at a schema that writes out without end", () => {
    const $defs: Record<string, Schema> = {};
    for (let at = 0; at < 30; at += 1) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { type: "object", properties: { a: next, b: next, c: next } };
    }
    expect(JSON.stringify(property({ $ref: "#/$defs/d0" }, { $defs })).length).toBeLessThan(
      500_000,
    );
  });
  it("says when there is nothing to fill in, and when only JSON will do", () => {
    expect(isWithoutFields(prepare({ type: "object" }) ?? { properties: { a: {} } })).toBe(true);
    expect(prepare({ type: "array" })).toBeNull();
    expect(prepare(true)).toBeNull();
  });
  it("reads escaped names in references", () => {
    expect(lookUp({ "a/b": { "c~d": 1 } }, "#/a~1b/c~0d")).toBe(1);
  });
});
