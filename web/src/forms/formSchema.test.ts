import { describe, expect, it } from "vitest";
import { planForm, toFormSchema } from "./formSchema";
import { JSON_FIELD, NULLABLE, type Schema, SUMMARY, VALUE_WHEN_EMPTIED } from "./schema";
import { resolveRef } from "./schemaRefs";

const PERSON = { type: "object", properties: { name: { type: "string" } } };

const one = (schema: unknown): Schema => ({ type: "object", properties: { it: schema } });

const property = (schema: unknown, root: Schema = {}): Schema => {
  const prepared = toFormSchema({ ...root, type: "object", properties: { it: schema } });
  return (prepared?.properties as Record<string, Schema> | undefined)?.it ?? {};
};

describe("toFormSchema", () => {
  it("writes local references out", () => {
    const root = { $defs: { size: { type: "integer", minimum: 1 } } };
    expect(property({ $ref: "#/$defs/size", title: "Size" }, root)).toEqual({
      type: "integer",
      minimum: 1,
      title: "Size",
      [SUMMARY]: "integer, at least 1",
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
    expect(property({ type: ["string", "null"] })).toMatchObject({ type: "string" });
    const optional = { anyOf: [{ type: "integer" }, { type: "null" }], default: null, title: "N" };
    expect(property(optional)).toEqual({
      type: "integer",
      title: "N",
      default: null,
      [NULLABLE]: true,
      [SUMMARY]: "integer or null, default null",
    });
  });
  it("sends null for a required field that is empty and may be null", () => {
    const required = { required: ["it"] };
    const text = property({ type: ["string", "null"] }, required);
    expect(text).toMatchObject({ type: "string", default: null, [VALUE_WHEN_EMPTIED]: null });
    const list = property({ type: ["array", "null"], items: { type: "string" } }, required);
    expect(list.anyOf).toMatchObject([{ type: "array" }, { type: "null" }]);
    expect(property({ type: ["boolean", "null"] }).enum).toEqual([true, false, null]);
    expect(property({ type: "boolean" }, required).default).toBe(false);
    expect(property({ type: "boolean" }).default).toBeUndefined();
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
  it("writes references in conditions out, and leaves out what has no end", () => {
    const root = {
      $defs: { kind: { const: "a" }, more: { properties: { extra: { type: "string" } } } },
      if: { properties: { kind: { $ref: "#/$defs/kind" } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: "#/$defs/more" },
      dependentSchemas: { it: { $ref: "#/$defs/more" } },
      dependentRequired: { extra: ["it"] },
    };
    const drawn = toFormSchema({ ...root, type: "object", properties: { it: { type: "string" } } });
    expect(JSON.stringify(drawn)).not.toContain("$ref");
    expect(drawn).toMatchObject({
      if: { properties: { kind: { const: "a" } } },
      dependencies: { it: { properties: { extra: { type: "string" } } }, extra: ["it"] },
    });
    const endless = { $defs: { a: { not: { $ref: "#/$defs/a" } } }, if: { $ref: "#/$defs/a" } };
    expect(toFormSchema({ ...endless, type: "object", properties: {} })?.if).toBeUndefined();
  });
  it("draws no branches that only limit what is described beside them", () => {
    const drawn = toFormSchema({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    });
    expect(drawn?.anyOf).toBeUndefined();
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
    ).toMatchObject({ type: "string" });
    expect(property({ oneOf: [{ type: "string" }, { type: "integer" }] }).oneOf).toMatchObject([
      { type: "string", title: "string" },
      { type: "integer", title: "integer" },
      { $id: JSON_FIELD, title: "JSON" },
    ]);
  });
  describe("of a schema that writes out to more than a page can draw", () => {
    const TEN = [..."abcdefghij"];
    const chain = (link: (next: Schema) => Schema): Schema => {
      const $defs: Schema = { d0: { type: "string" } };
      for (let at = 1; at < 12; at += 1) $defs[`d${at}`] = link({ $ref: `#/$defs/d${at - 1}` });
      return { type: "object", $defs, properties: { x: { $ref: "#/$defs/d11" } } };
    };
    const fields = (count: number): Schema => ({
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`f${at}`, { type: "string" }]),
      ),
    });
    it.each([
      ["10,000 fields", fields(10_000)],
      ["1,000 fields", fields(1_000)],
      ["301 fields", fields(301)],
      ["fields two levels down", one(one(fields(400)))],
      [
        "references to references",
        chain((next) => ({
          type: "object",
          properties: Object.fromEntries(TEN.map((name) => [name, next])),
        })),
      ],
      ["parts of parts", chain((next) => ({ allOf: TEN.map(() => next) }))],
      ["branches of branches", chain((next) => ({ anyOf: TEN.map(() => next) }))],
      ["5,000 branches", one({ oneOf: Array(5000).fill(PERSON) })],
      ["thousands of parts", { ...PERSON, allOf: Array(5000).fill(PERSON) }],
    ])("says so: %s", (_, schema) => {
      expect(planForm(schema)).toMatchObject({
        kind: "json",
        note: expect.stringContaining("too many fields to show"),
      });
    });
    it.each([
      ["300 fields", fields(300)],
      ["a list of long things", one({ type: "array", items: fields(250) })],
      ["a choice of long things", one({ oneOf: [fields(100), fields(120), fields(130)] })],
    ])("but not of %s", (_, schema) => {
      expect(planForm(schema).kind).toBe("form");
    });
  });
  it.each([
    ["no arguments", { type: "object", properties: {} }, "nothing"],
    ["none allowed", { type: "object", additionalProperties: false }, "nothing"],
    ["an object without properties", { type: "object" }, "nothing"],
    ["any object", {}, "json"],
    ["any object, said so", { properties: {}, additionalProperties: true }, "json"],
    ["anything", true, "json"],
    ["no object", { type: "array" }, "json"],
    ["all behind a reference", { $ref: "#/$defs/a", $defs: { a: PERSON } }, "form"],
    ["branches alone", { type: "object", oneOf: [PERSON, PERSON] }, "form"],
  ])("knows what the form of %s is", (_, schema, kind) => {
    expect(planForm(schema).kind).toBe(kind);
  });
  it("reads escaped names in references", () => {
    expect(resolveRef({ "a/b": { "c~d": 1 } }, "#/a~1b/c~0d")).toBe(1);
  });
});
