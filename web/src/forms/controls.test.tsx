// Every control of the form, used as a person uses it; what matters is what would be sent.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { box, field, one, paste, pick, renderForm, toForm, toJson, type } from "./testing";

vi.mock("../components/CodeEditor");
// Keys are typed one by one, and the first test waits for the form's code.
vi.setConfig({ testTimeout: 60_000 });

const TITLED = [
  { const: "s", title: "Small (1-10 items)" },
  { const: "l", title: "Large (100+ items)" },
];

describe("text", () => {
  it("is sent as typed, and left out when emptied", async () => {
    const page = await renderForm(one({ type: "string", description: "What it is" }));
    expect(screen.getByText("What it is")).toBeTruthy();
    await type("Rome");
    expect(page.sent()).toEqual({ it: "Rome" });
    await userEvent.clear(field());
    expect(page.sent()).toEqual({});
  });
  it("begins with its default, which stays away once it is emptied", async () => {
    const page = await renderForm(one({ type: "string", default: "already" }));
    expect(page.sent()).toEqual({ it: "already" });
    await userEvent.clear(field());
    expect(page.sent()).toEqual({});
    expect(field()).toHaveProperty("value", "");
  });
  it.each([
    ["uri", "url", "https://example.com/a"],
    ["email", "email", "a@example.com"],
    ["date", "date", "2026-01-31"],
    ["password", "password", "secret"],
    // No control of its own: it may be text of any length.
    ["markdown", "textarea", "a\nb"],
  ])("of format %s has its own kind of input", async (format, kind, text) => {
    const page = await renderForm(one({ type: "string", format, description: "About" }), {
      isTried: true,
    });
    expect(field()).toHaveProperty("type", kind);
    expect(screen.getByText("About")).toBeTruthy();
    await paste(field(), text);
    expect(page.sent()).toEqual({ it: text });
    expect(screen.queryByLabelText("Schema violations")).toBeNull();
  });
  it("keeps its line breaks, and takes more", async () => {
    const page = await renderForm(one({ type: "string" }), {
      start: { text: '{"it": "select 1\\nfrom a"}', mode: "form" },
    });
    expect(field()).toHaveProperty("value", "select 1\nfrom a");
    await type("{Enter}where b");
    expect(page.sent()).toEqual({ it: "select 1\nfrom a\nwhere b" });
  });
  it("of a format keeps the line breaks that it should not have", async () => {
    const page = await renderForm(one({ type: "string", format: "email" }), {
      start: { text: '{"it": "a@example.com\\n"}', mode: "form" },
    });
    await type("x");
    expect(page.sent()).toEqual({ it: "a@example.com\nx" });
  });
  it("is filled in from an example", async () => {
    const page = await renderForm(one({ type: "string", examples: ["a\nb", 4, "", "c", "c"] }));
    await userEvent.click(screen.getByRole("button", { name: "Use as it: c" }));
    expect(page.sent()).toEqual({ it: "c" });
    await userEvent.click(screen.getByRole("button", { name: /Use as it: a\s+b/ }));
    expect(page.sent()).toEqual({ it: "a\nb" });
  });
  it("too short or too long is told once, at the field", async () => {
    await renderForm(one({ type: "string", minLength: 2, maxLength: 3 }), { isTried: true });
    await type("a");
    expect(screen.getAllByText(/too short/)).toHaveLength(1);
    await type("bcd");
    expect(screen.getAllByText(/too long/)).toHaveLength(1);
    expect(screen.queryByLabelText("Schema violations")).toBeNull();
  });
  it("keeps a date that no picker can show", async () => {
    const page = await renderForm(one({ type: "string", format: "date", default: "tomorrow" }));
    expect(field()).toHaveProperty("type", "text");
    expect(field()).toHaveProperty("value", "tomorrow");
    expect(page.sent()).toEqual({ it: "tomorrow" });
  });
});

describe("numbers", () => {
  it.each([
    ["integer", "42", 42],
    ["number", "-2.50", -2.5],
    ["number", "1e3", 1000],
  ])("of type %s take %s", async (kind, text, value) => {
    const page = await renderForm(one({ type: kind }));
    await type(text);
    expect(page.sent()).toEqual({ it: value });
    expect(field()).toHaveProperty("value", text);
  });
  it("out of their limits are told, and can be sent all the same", async () => {
    const page = await renderForm(one({ type: "integer", minimum: 1, maximum: 10 }), {
      isTried: true,
    });
    await type("11");
    expect(page.sent()).toEqual({ it: 11 });
    expect(screen.getAllByText(/^11 /)).toHaveLength(1);
  });
  it("step by the arrow keys", async () => {
    const page = await renderForm(one({ type: "number", multipleOf: 0.1, default: 0.2 }));
    await userEvent.type(field(), "{ArrowUp}");
    expect(page.sent()).toEqual({ it: 0.3 });
  });
  it("that are none yet are left out, said so, and kept over the switch to JSON", async () => {
    const page = await renderForm(one({ type: "integer" }));
    await type("12-");
    expect(page.sent()).toEqual({});
    expect(screen.getByText(/is not a number/)).toBeTruthy();
    await toJson();
    expect(page.sent()).toEqual({ it: "12-" });
    await toForm();
    expect(page.sent()).toEqual({});
    expect(field()).toHaveProperty("value", "12-");
  });
  it("that are none yet are told once: at the field, or of the JSON", async () => {
    await renderForm(one({ type: "integer" }, true), { isTried: true });
    await type("12a");
    const findings = (): string | null | undefined =>
      screen.queryByLabelText("Schema violations")?.textContent;
    expect(findings()).toBeUndefined();
    expect(screen.getAllByText(/is not a number/)).toHaveLength(1);
    await toJson();
    expect(findings()).toBe('it: The value type "string" is invalid. Expected "integer".');
    await toForm();
    await userEvent.type(field(), "{Backspace}");
    expect(screen.queryByText(/is not a number/)).toBeNull();
    expect(findings()).toBeUndefined();
  });
  it("of too many digits are not rounded in silence", async () => {
    const page = await renderForm(one({ type: "integer" }));
    await type("12345678901234567890");
    expect(page.sent()).toEqual({});
    expect(screen.getByText(/would round/)).toBeTruthy();
  });
  it("in JSON keep every digit, and the form does not touch them", async () => {
    const page = await renderForm(one({ type: "integer" }));
    await toJson();
    await paste(field("Arguments as JSON"), '{"it": 12345678901234567890}');
    expect(page.text()).toBe('{"it": 12345678901234567890}');
    await toForm();
    expect(screen.getByText(/would round the number 12345678901234567890/)).toBeTruthy();
    expect(page.text()).toBe('{"it": 12345678901234567890}');
  });
});

describe("a checkbox", () => {
  it("that is required sends false from the start", async () => {
    const page = await renderForm(one({ type: "boolean", description: "Sure?" }, true));
    expect(screen.getByText("Sure?")).toBeTruthy();
    expect(page.sent()).toEqual({ it: false });
    await userEvent.click(screen.getByRole("checkbox"));
    expect(page.sent()).toEqual({ it: true });
  });
  it("that is not required sends nothing until it is used", async () => {
    const page = await renderForm(one({ type: "boolean" }));
    expect(page.sent()).toEqual({});
    await userEvent.click(screen.getByRole("checkbox"));
    await userEvent.click(screen.getByRole("checkbox"));
    expect(page.sent()).toEqual({ it: false });
  });
});

describe("choices", () => {
  it.each([
    ["enum", { type: "string", enum: ["red", "green"] }, "green", "green"],
    ["enumNames", { type: "string", enum: ["a", "b"], enumNames: ["Good", "Fair"] }, "Fair", "b"],
    ["oneOf with titles", { type: "string", oneOf: TITLED }, "Large (100+ items)", "l"],
    ["anyOf with titles", { type: "string", anyOf: TITLED }, "Small (1-10 items)", "s"],
    ["numbers", { type: "integer", enum: [1, 2] }, "2", 2],
    ["values of all types", { enum: ["a", 1, null, { b: 2 }] }, '{"b":2}', { b: 2 }],
    ["null", { enum: ["a", null] }, "null", null],
    [
      "booleans with titles",
      {
        type: "boolean",
        oneOf: [
          { const: true, title: "On" },
          { const: false, title: "Off" },
        ],
      },
      "Off",
      false,
    ],
    ["true, false and null", { type: ["boolean", "null"] }, "false", false],
  ])("of %s", async (_, schema, label, value) => {
    const page = await renderForm(one({ ...schema, description: "Which one" }));
    expect(page.sent()).toEqual({});
    expect(screen.getByText("Which one")).toBeTruthy();
    await pick(label);
    expect(page.sent()).toEqual({ it: value });
  });
  it.each([
    ["enum", { enum: ["s", "l"] }, "l"],
    ["anyOf with titles", { anyOf: TITLED }, "Large (100+ items)"],
    ["oneOf with titles", { type: "string", oneOf: TITLED }, "Large (100+ items)"],
  ])("of several by %s", async (_, items, label) => {
    const page = await renderForm(one({ type: "array", items, description: "Which ones" }));
    expect(screen.getByText("Which ones")).toBeTruthy();
    await pick(label);
    expect(page.sent()).toEqual({ it: ["l"] });
  });
  it("show a value that is none of them", async () => {
    const page = await renderForm(one({ type: "string", enum: ["a"], default: "z" }));
    expect(box()).toHaveProperty("value", '"z" (not a choice)');
    expect(page.sent()).toEqual({ it: "z" });
  });
  it("of thousands are found by typing", async () => {
    const many = Array.from({ length: 5000 }, (_, at) => `n${at}`);
    const page = await renderForm(one({ type: "string", enum: many }));
    await userEvent.click(box());
    await userEvent.paste("n4321");
    await userEvent.click(await screen.findByRole("option", { name: "n4321", hidden: true }));
    expect(page.sent()).toEqual({ it: "n4321" });
  });
});

describe("null", () => {
  it.each([
    ["text", { type: ["string", "null"] }, "x", "x"],
    ["number", { anyOf: [{ type: "integer" }, { type: "null" }] }, "5", 5],
  ])("is what a required empty %s sends", async (_, schema, text, value) => {
    const page = await renderForm(one(schema, true), { isTried: true });
    expect(page.sent()).toEqual({ it: null });
    await type(text);
    expect(page.sent()).toEqual({ it: value });
    await userEvent.clear(field());
    expect(page.sent()).toEqual({ it: null });
    expect(screen.queryByLabelText("Schema violations")).toBeNull();
  });
  it("is a choice for a required object", async () => {
    const schema = { ...one({ type: "string" }), type: ["object", "null"] };
    const page = await renderForm({ type: "object", properties: { o: schema }, required: ["o"] });
    await pick("null", /^o\b/);
    expect(page.sent()).toEqual({ o: null });
    await pick("object", /^o\b/);
    await type("x");
    expect(page.sent()).toEqual({ o: { it: "x" } });
  });
  it("is left out where the field is not required, unless it is the default", async () => {
    const page = await renderForm(one({ type: ["string", "null"] }));
    expect(page.sent()).toEqual({});
    page.unmount();
    sessionStorage.clear();
    const other = await renderForm(one({ type: ["string", "null"], default: null }));
    expect(other.sent()).toEqual({ it: null });
  });
});

describe("lists and objects", () => {
  it("grow, shrink and are put in another order", async () => {
    const page = await renderForm(
      one({ type: "array", items: { type: "string" }, default: ["a"] }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Add an item" }));
    expect(page.sent()).toEqual({ it: ["a", ""] });
    // What was added has the focus.
    await userEvent.keyboard("b");
    expect(page.sent()).toEqual({ it: ["a", "b"] });
    await userEvent.click(screen.getByRole("button", { name: "Move item 2 up" }));
    expect(page.sent()).toEqual({ it: ["b", "a"] });
    await userEvent.click(screen.getByRole("button", { name: "Remove item 1" }));
    expect(page.sent()).toEqual({ it: ["a"] });
  });
  it("take what is typed into what was added, however deep it is", async () => {
    const people = { type: "object", properties: { name: { type: "string" } } };
    const page = await renderForm(one({ type: "array", items: people }));
    await userEvent.click(screen.getByRole("button", { name: "Add an item" }));
    await userEvent.keyboard("3m");
    expect(page.sent()).toEqual({ it: [{ name: "3m" }] });
    page.unmount();
    sessionStorage.clear();
    await renderForm(one({ type: "object", additionalProperties: { type: "string" } }));
    await userEvent.click(screen.getByRole("button", { name: "Add a key" }));
    expect(document.activeElement?.tagName).toMatch(/INPUT|TEXTAREA/);
  });
  it("tell what is wrong with themselves", async () => {
    const list = { type: "array", items: { type: "string" }, minItems: 1 };
    const object = { type: "object", additionalProperties: { type: "string" }, minProperties: 1 };
    const start = { text: '{"list": [], "object": {}}', mode: "form" } as const;
    const schema = { type: "object", properties: { list, object }, minProperties: 3 };
    await renderForm(schema, { start, isTried: true });
    const about = screen.getByLabelText("Schema violations").textContent;
    for (const place of ["list:", "object:", "The whole value:"]) expect(about).toContain(place);
    // Once at its place, once in the list.
    expect(screen.getAllByText(/too few/)).toHaveLength(2);
    expect(screen.getAllByText(/does not have at least 1/)).toHaveLength(2);
    expect(screen.getAllByText(/at least 3/)).toHaveLength(2);
  });
  it("stand in one another, by reference as well", async () => {
    const $defs = { city: { ...one({ type: "string" }), description: "Where" } };
    const page = await renderForm({
      $defs,
      type: "object",
      properties: { at: { $ref: "#/$defs/city" } },
    });
    expect(screen.getByText("Where")).toBeTruthy();
    await type("Bern");
    expect(page.sent()).toEqual({ at: { it: "Bern" } });
  });
  it("take keys of their own", async () => {
    const page = await renderForm(
      one({ type: "object", additionalProperties: { type: "string" } }),
    );
    await userEvent.click(screen.getByRole("button", { name: "Add a key" }));
    expect(page.sent()).toEqual({ it: { newKey: "" } });
  });
  it("show fields that others bring with them", async () => {
    const page = await renderForm({
      $defs: { more: { properties: { why: { type: "string" } } } },
      type: "object",
      properties: { it: { type: "string" } },
      dependentSchemas: { it: { $ref: "#/$defs/more" } },
    });
    expect(screen.queryByLabelText("why")).toBeNull();
    await type("x");
    await userEvent.type(field("why"), "y");
    expect(page.sent()).toEqual({ it: "x", why: "y" });
  });
});

describe("a JSON field", () => {
  it("takes anything, and keeps what is half typed over the switch and a reload", async () => {
    const page = await renderForm(one({ description: "Anything" }));
    expect(screen.getByText("Anything")).toBeTruthy();
    await paste(field("it as JSON"), '{"a": [1, 2]}');
    expect(page.sent()).toEqual({ it: { a: [1, 2] } });
    await paste(field("it as JSON"), '{"a": [1, ');
    expect(page.sent()).toEqual({});
    expect(screen.getByText(/is not JSON/)).toBeTruthy();
    await toJson();
    await toForm();
    expect(field("it as JSON")).toHaveProperty("value", '{"a": [1, ');
    page.unmount();
    await renderForm(one({ description: "Anything" }));
    expect(field("it as JSON")).toHaveProperty("value", '{"a": [1, ');
  });
  it("can be emptied in a list", async () => {
    const page = await renderForm(one({ type: "array", items: { type: ["string", "integer"] } }));
    await userEvent.click(screen.getByRole("button", { name: "Add an item" }));
    const editor = field("it-1 as JSON");
    expect(document.activeElement).toBe(editor);
    await userEvent.clear(editor);
    expect(editor).toHaveProperty("value", "");
    await userEvent.type(editor, "12");
    expect(page.sent()).toEqual({ it: [12] });
  });
  it("tells what is wrong inside it", async () => {
    const tuple = { type: "array", prefixItems: [{ type: "string" }] };
    await renderForm(one(tuple), { start: { text: '{"it": [1]}', mode: "form" }, isTried: true });
    expect(screen.getByText(/^0: The value type/)).toBeTruthy();
  });
});

describe("JSON for all of it", () => {
  it("begins with the defaults", async () => {
    const page = await renderForm(one({ type: "integer", default: 3 }), {
      start: { text: null, mode: "json" },
    });
    expect(page.sent()).toEqual({ it: 3 });
  });
  it("lists what breaks the schema", async () => {
    const start = { text: '{"a/b": [{}]}', mode: "json" } as const;
    const schema = {
      type: "object",
      properties: { "a/b": { type: "array", items: { type: "string" } } },
      required: ["100%"],
    };
    await renderForm(schema, { start, isTried: true });
    const about = screen.getByLabelText("Schema violations").textContent;
    expect(about).toContain('"a/b"[0]: ');
    expect(about).toContain('"100%": This is required.');
  });
  it("names what it holds and the form does not show", async () => {
    await renderForm(one({ type: "string" }), {
      start: { text: '{"it": "x", "more": 1}', mode: "form" },
    });
    expect(screen.getByText(/no field for it: more/)).toBeTruthy();
  });
  it("is pointed to where any arguments are taken", async () => {
    const page = await renderForm({ type: "object", additionalProperties: true });
    expect(screen.getByText(/Any arguments are accepted/)).toBeTruthy();
    await paste(field("Arguments as JSON"), '{"x": 1}');
    expect(page.sent()).toEqual({ x: 1 });
  });
  it("is no form at all where no arguments are taken", async () => {
    const page = await renderForm({ type: "object" });
    expect(screen.getByText("No arguments.")).toBeTruthy();
    expect(screen.queryByLabelText("Arguments as JSON")).toBeNull();
    expect(page.sent()).toEqual({});
  });
});

describe("every field", () => {
  const isBefore = (one: Node, other: Node): boolean =>
    (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  it.each([
    ["textbox", { type: "string", description: "The help" }],
    ["textbox", { type: "integer", description: "The help" }],
    ["checkbox", { type: "boolean", description: "The help" }],
    ["combobox", { enum: ["a", "b"], description: "The help" }],
  ])("has its label, then its help, then the control: %s", async (role, schema) => {
    await renderForm(one(schema));
    const control = screen.getByRole(role, { name: /^it\b/ });
    const [label, help] = [screen.getByText("it"), screen.getByText("The help")];
    expect(isBefore(label, help)).toBe(true);
    expect(isBefore(help, control)).toBe(true);
  });
  it.each([
    ["textbox", { type: "string" }],
    ["textbox", { type: "string", format: "email" }],
    ["textbox", { type: "number" }],
    ["combobox", { enum: ["a", "b"] }],
  ])("that is optional and empty says that it is not sent: %s %j", async (role, schema) => {
    const { unmount } = await renderForm(one(schema));
    expect(screen.getByRole(role, { name: /^it\b/ }).getAttribute("placeholder")).toBe("not sent");
    unmount();
    await renderForm(one(schema, true));
    expect(screen.getByRole(role, { name: /^it\b/ }).getAttribute("placeholder")).toBe("");
  });
  it("that is a checkbox says what it sends", async () => {
    const page = await renderForm(one({ type: "boolean" }));
    expect(screen.getByText("not sent")).toBeTruthy();
    await userEvent.click(screen.getByRole("checkbox"));
    expect(screen.getByText("true")).toBeTruthy();
    await userEvent.click(screen.getByRole("checkbox"));
    expect(screen.getByText("false")).toBeTruthy();
    expect(page.sent()).toEqual({ it: false });
  });
  it("folds a long description", async () => {
    const long = `First words. ${"And so on. ".repeat(60)}The end.`;
    await renderForm(one({ type: "string", description: long }));
    expect(screen.queryByText(/The end\./)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "More" }));
    expect(screen.getByText(/The end\./)).toBeTruthy();
    expect(screen.getByRole("button", { name: "Less" }).getAttribute("aria-expanded")).toBe("true");
  });
});
