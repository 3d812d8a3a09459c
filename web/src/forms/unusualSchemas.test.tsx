// Schemas that servers send and no form foresees: each is drawn, or is JSON; none breaks the page.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { formModule } from "./ArgumentsEditor";
import { one, renderForm } from "./testing";

vi.mock("../components/CodeEditor");
// Keys are typed one by one, and the first test waits for the form's code.
vi.setConfig({ testTimeout: 60_000 });

const THEN = "then";

function nested(levels: number): object {
  let inner: object = { type: "string" };
  for (let level = 0; level < levels; level += 1) inner = one(inner);
  return inner;
}

const circular = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
};
const withDefs = (defs: object, more: object): object => ({
  type: "object",
  $defs: defs,
  properties: { it: { type: "string" } },
  ...more,
});

const ODD: [string, unknown][] = [
  ["true", true],
  ["false", false],
  ["null", null],
  ["a text", "string"],
  ["a list", []],
  ["no object", { type: "array" }],
  ["a list of types at the top", { type: ["object", "null"], properties: { a: {} } }],
  ["type as a list", one({ type: ["string", "integer"] })],
  ["an empty list of types", one({ type: [] })],
  ["an unknown type", one({ type: "file" })],
  ["a tuple", one({ type: "array", items: [{ type: "string" }, { type: "integer" }] })],
  ["prefixItems", one({ type: "array", prefixItems: [{ type: "string" }] })],
  ["items: false", one({ type: "array", items: false })],
  ["a const", one({ const: "x" })],
  ["a const number", one({ const: 1 })],
  ["a const object", one({ const: { a: 1 } })],
  ["a const null", one({ const: null })],
  ["a const true", one({ const: true })],
  ["type null", one({ type: "null" })],
  ["an enum of all types", one({ enum: ["a", 1, null, { b: 2 }, [3], true] })],
  ["an enum with twice the same", one({ enum: ["a", "a", ""] })],
  ["an empty enum", one({ type: "string", enum: [] })],
  ["an enum that is no list", one({ type: "string", enum: "a" })],
  ["a circular reference", { ...circular, ...one({ $ref: "#/$defs/node" }) }],
  ["a reference to itself", { $ref: "#" }],
  ["a reference to nowhere", one({ $ref: "#/$defs/none" })],
  ["a reference with a bad escape", one({ $ref: "#/$defs/100%" })],
  ["a reference at the top to nowhere", { $ref: "#/$defs/none" }],
  ["a reference elsewhere", one({ $ref: "https://example.com/a.json" })],
  ["$dynamicRef", one({ $dynamicRef: "#node" })],
  ["patternProperties", one({ type: "object", patternProperties: { "^x-": { type: "string" } } })],
  ["patternProperties at the top", { type: "object", patternProperties: { "(": {} } }],
  ["additionalProperties", one({ type: "object", additionalProperties: { type: "integer" } })],
  ["additionalProperties at the top", { additionalProperties: { $ref: "#/$defs/none" } }],
  ["dependentRequired", withDefs({}, { dependentRequired: { it: ["other"] } })],
  [
    "dependentSchemas with a reference",
    withDefs({ a: one({}) }, { dependentSchemas: { it: { $ref: "#/$defs/a" } } }),
  ],
  [
    "dependencies to nowhere",
    withDefs({}, { dependencies: { it: { $ref: "#/$defs/none" }, b: ["it"], c: true } }),
  ],
  [
    "if and then with references",
    withDefs(
      { a: { properties: { it: { const: "x" } } }, b: { properties: { more: { minLength: 1 } } } },
      { if: { $ref: "#/$defs/a" }, [THEN]: { $ref: "#/$defs/b" }, else: { $ref: "#/none" } },
    ),
  ],
  ["if: true", withDefs({}, { if: true, [THEN]: one({ type: "integer" }) })],
  [
    "allOf with references",
    withDefs({ a: one({ minLength: 2 }) }, { allOf: [{ $ref: "#/$defs/a" }] }),
  ],
  ["allOf that contradicts itself", one({ allOf: [{ type: "string" }, { type: "integer" }] })],
  ["allOf that says nothing", one({ allOf: [{}, { title: "x" }] })],
  [
    "allOf of an enum",
    { $defs: { c: { enum: ["a"] } }, ...one({ allOf: [{ $ref: "#/$defs/c" }] }) },
  ],
  ["allOf with true", one({ allOf: [true, { type: "string" }] })],
  [
    "allOf to itself",
    { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, allOf: [{ $ref: "#/$defs/a" }] },
  ],
  ["not", one({ not: { type: "string" } })],
  ["not with a reference", withDefs({ a: {} }, { not: { $ref: "#/$defs/a" } })],
  ["anyOf with nothing", one({ anyOf: [] })],
  ["anyOf with true and false", one({ anyOf: [true, false] })],
  ["anyOf of limits", one({ anyOf: [{ minLength: 1 }, { maximum: 3 }] })],
  [
    "anyOf in anyOf",
    one({ anyOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "integer" }] }),
  ],
  ["oneOf with a mix of const and type", one({ oneOf: [{ const: 1 }, { type: "string" }] })],
  ["oneOf of booleans", one({ type: "boolean", oneOf: [{ const: true }, { const: false }] })],
  ["anyOf at the top", { anyOf: [one({ type: "string" }), { $ref: "#/$defs/none" }] }],
  ["an unknown format", one({ type: "string", format: "nonsense" })],
  ["the format hidden", one({ type: "string", format: "hidden" })],
  ["the format data-url", one({ type: "string", format: "data-url" })],
  ["a format on a number", one({ type: "integer", format: "date" })],
  ["a bad pattern", one({ type: "string", pattern: "(" })],
  [
    "an enum of 5,000",
    one({ type: "string", enum: Array.from({ length: 5000 }, (_, at) => `n${at}`) }),
  ],
  ["30 levels", nested(30)],
  ["required as in draft 3", one({ type: "string", required: true })],
  ["required that is no list", { ...one({ type: "string" }), required: "it" }],
  ["properties that are a list", { type: "object", properties: [] }],
  ["texts of the wrong type", one({ type: "string", title: 5, description: { a: 1 } })],
  ["examples that are no list", one({ type: "string", examples: "x" })],
  ["a default of the wrong type", one({ type: "object", properties: { a: {} }, default: 7 })],
  [
    "a list with a default that is none",
    one({ type: "array", items: { type: "string" }, default: 7 }),
  ],
  ["limits of the wrong type", one({ type: "integer", minimum: "1", multipleOf: 0 })],
  ["a deprecated field", one({ type: "string", deprecated: true })],
  ["a free field beside others", { ...one({ type: "string" }), additionalProperties: true }],
  ...["100%", "a/b", "a~b", "", "constructor", "toString", "a.b", "0", "$ref", "länge 🙂"].map(
    (name): [string, unknown] => [
      `a property named “${name}”`,
      { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
    ],
  ),
  [
    "a property named __proto__",
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
  ],
];

describe("odd schemas", () => {
  it.each(ODD)("%s", async (_, schema) => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const error = vi.spyOn(console, "error").mockReturnValue();
    const page = await renderForm(schema, { isTried: true });
    expect(screen.queryByText(/cannot be shown as a form/)).toBeNull();
    const controls = document.querySelectorAll("input:not([type=radio]), textarea, fieldset");
    const says = screen.queryByText(/No arguments|as JSON/);
    const adds = screen.queryByRole("button", { name: "Add a key" });
    expect(controls.length > 0 || says !== null || adds !== null).toBe(true);
    expect(page.text()).not.toBe("");
    warn.mockRestore();
    error.mockRestore();
  });
  it("draws the fields beside __proto__, which is sent as JSON", async () => {
    const schema = JSON.parse(
      `{"type": "object", "required": ["__proto__", "hasOwnProperty"], "properties": {
        "__proto__": {"type": "string"}, "constructor": {"type": "string"},
        "toString": {"type": "boolean"}, "": {"type": "string"}}}`,
    );
    const page = await renderForm(schema);
    expect(document.querySelectorAll("input[type=text], textarea")).toHaveLength(2);
    expect(screen.getByRole("checkbox", { name: /toString/ })).toBeTruthy();
    expect(screen.getByText(/cannot be a field of a form/)).toBeTruthy();
    const field = screen.getByLabelText("constructor") as HTMLInputElement;
    expect(field.value).toBe("");
    await userEvent.type(field, "a");
    expect(page.text()).toBe('{\n  "constructor": "a"\n}');
    page.put('{"__proto__": "kept"}');
    expect(screen.getByText(/The form would lose __proto__/)).toBeTruthy();
    expect(page.text()).toBe('{"__proto__": "kept"}');
  });
  it("falls back to JSON where the form library throws", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    await formModule.load();
    const loaded = formModule.loaded;
    const thrower = (): never => {
      throw new Error("no such thing");
    };
    if (loaded) formModule.loaded = { ...loaded, SchemaForm: thrower };
    const page = await renderForm(one({ type: "string", default: "kept" }));
    formModule.loaded = loaded;
    expect(screen.getByText(/cannot be shown as a form: no such thing/)).toBeTruthy();
    const editor = screen.getByLabelText("Arguments as JSON");
    await userEvent.clear(editor);
    await userEvent.type(editor, "[[");
    expect(page.text()).toBe("[");
    expect(screen.getByLabelText("Arguments as JSON")).toBeTruthy();
    error.mockRestore();
  });
});
