// What an empty field sends is seen, and can be chosen.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { emptyChoices, emptyKind } from "./EmptyValueSelect";
import { withValueAt } from "./formValue";
import { LIST_ITEM, NULLABLE } from "./schema";
import { box, field, one, paste, renderForm, toForm, toJson, type } from "./testing";

vi.mock("../components/CodeEditor");
vi.setConfig({ testTimeout: 60_000 });

const choice = (): HTMLSelectElement | null => screen.queryByLabelText("When empty");
const says = (): string | undefined => choice()?.selectedOptions[0]?.textContent ?? undefined;
const offers = (): string[] => [...(choice()?.options ?? [])].map((option) => option.text);
const choose = (words: string): Promise<void> =>
  userEvent.selectOptions(choice() as HTMLElement, words);

const LIST = { type: "array", items: { type: "string" } };
const OBJECT = one({ type: "string" });
const orNull = (schema: object): object => ({ anyOf: [schema, { type: "null" }] });

describe("an empty field", () => {
  it.each([
    ["text", { type: "string" }, ["Not sent", "Sent as empty text"]],
    ["a moment", { type: "string", format: "date" }, ["Not sent", "Sent as empty text"]],
    [
      "text or null",
      { type: ["string", "null"] },
      ["Not sent", "Sent as empty text", "Sent as null"],
    ],
    ["a number", { type: "integer" }, []],
    ["a number or null", { type: ["integer", "null"] }, ["Not sent", "Sent as null"]],
    ["a choice", { enum: ["", "a"] }, []],
    ["a choice or null", orNull({ enum: ["a"] }), ["Not sent", "Sent as null"]],
    ["a choice with null", { enum: ["a", null] }, []],
    [
      "several choices",
      { type: "array", items: { enum: ["a"] } },
      ["Not sent", "Sent as an empty list"],
    ],
    ["a checkbox", { type: "boolean" }, ["Not sent", "Sent as false"]],
    ["a list", LIST, ["Not sent", "Sent as an empty list"]],
    ["a list or null", orNull(LIST), ["Not sent", "Sent as an empty list", "Sent as null"]],
  ])("of %s offers what it may send", async (_, schema, words) => {
    await renderForm(one(schema));
    expect(offers()).toEqual(words);
  });
  it("of text sends what is chosen, in the form, in JSON and after a reload", async () => {
    const schema = one({ type: ["string", "null"] });
    const page = await renderForm(schema);
    expect(says()).toBe("Not sent");
    await choose("Sent as empty text");
    expect(page.sent()).toEqual({ it: "" });
    await toJson();
    await toForm();
    expect(says()).toBe("Sent as empty text");
    await choose("Sent as null");
    expect(page.sent()).toEqual({ it: null });
    page.unmount();
    const again = await renderForm(schema);
    expect(says()).toBe("Sent as null");
    await type("x");
    expect(choice()).toBeNull();
    await userEvent.clear(field());
    expect(says()).toBe("Not sent");
    await toJson();
    await paste(field("Arguments as JSON"), '{"it": ""}');
    await toForm();
    expect(says()).toBe("Sent as empty text");
    await choose("Not sent");
    expect(again.sent()).toEqual({});
  });
  it("is reached by Tab from the field, and is named after it", async () => {
    await renderForm(one({ type: "string" }));
    await userEvent.click(field());
    await userEvent.tab();
    expect(document.activeElement).toBe(choice());
    const about = choice()?.getAttribute("aria-describedby") ?? "";
    expect(document.getElementById(about)?.textContent).toBe("it");
  });
  it("of text that is required offers an empty text beside its error", async () => {
    const page = await renderForm(one({ type: "string" }, true), { isTried: true });
    await type("x");
    await userEvent.clear(field());
    expect(page.sent()).toEqual({});
    await userEvent.click(screen.getByRole("button", { name: "Send an empty text" }));
    expect(page.sent()).toEqual({ it: "" });
    expect(says()).toBe("Sent as empty text");
    expect(screen.queryByLabelText("Schema violations")).toBeNull();
    expect(screen.queryByRole("button", { name: "Send an empty text" })).toBeNull();
  });
  it("offers no empty text where it would break the schema", async () => {
    await renderForm(one({ type: "string", minLength: 1 }, true), { isTried: true });
    expect(screen.getAllByText(/This is required/)).not.toHaveLength(0);
    expect(screen.queryByRole("button", { name: "Send an empty text" })).toBeNull();
  });
  it("begins with null where that is the default", async () => {
    const schemas = [{ type: "string" }, { type: "integer" }, { enum: ["a"] }, LIST, OBJECT];
    for (const schema of schemas) {
      const page = await renderForm(one({ ...orNull(schema), default: null }));
      expect(page.sent()).toEqual({ it: null });
      // That of an object stands behind its fields.
      const outer = [...document.querySelectorAll("select")].at(-1);
      expect(outer?.selectedOptions[0]?.text).toBe("Sent as null");
      page.unmount();
      sessionStorage.clear();
    }
    const page = await renderForm(one({ ...orNull(OBJECT), default: null }, true));
    expect(page.sent()).toEqual({ it: null });
    expect(box()).toHaveProperty("value", "null");
  });
  it("goes back to nothing from a checkbox, a list and an object", async () => {
    const properties = { flag: { type: "boolean" }, list: LIST, object: OBJECT };
    const page = await renderForm(
      { type: "object", properties },
      { start: { text: '{"flag": false, "list": [], "object": {}}', mode: "form" } },
    );
    const all = screen.getAllByLabelText<HTMLSelectElement>("When empty");
    const words = all.map((select) => select.selectedOptions[0]?.text);
    expect(words).toContain("Sent as false");
    expect(words).toContain("Sent as an empty list");
    expect(words).toContain("Sent as an empty object");
    for (const select of all)
      if (select.value === "empty") await userEvent.selectOptions(select, "Not sent");
    expect(page.sent()).toEqual({});
  });
  it("is null among the kinds of a value that has several", async () => {
    const kinds = { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] };
    const other = await renderForm(one(kinds));
    await userEvent.click(box());
    await userEvent.click(await screen.findByRole("option", { name: "null", hidden: true }));
    expect(other.sent()).toEqual({ it: null });
  });
});

describe("what is empty", () => {
  it("is told by the value", () => {
    const values = [undefined, null, "", [], {}, false, 0, "a", [null], { a: 1 }, true];
    expect(values.map(emptyKind)).toEqual([
      ...["nothing", "null", "empty", "empty", "empty", "empty"],
      ...[null, null, null, null, null],
    ]);
  });
  it("cannot be left out of a list", () => {
    expect(emptyChoices({ type: "string", [LIST_ITEM]: true }, "empty")).toEqual(["empty"]);
    expect(emptyChoices({ type: "integer", [LIST_ITEM]: true, [NULLABLE]: true }, "null")).toEqual([
      "null",
    ]);
  });
  it("is put at its place", () => {
    expect(withValueAt({ a: { b: 1 }, c: 2 }, ["a", "b"], undefined)).toEqual({ a: {}, c: 2 });
    expect(withValueAt({ a: [1, 2] }, ["a", 1], null)).toEqual({ a: [1, null] });
    expect(withValueAt({ a: [1, 2] }, ["a", 0], undefined)).toEqual({ a: [null, 2] });
    expect(withValueAt({ a: null }, ["a", "b"], [])).toEqual({ a: { b: [] } });
    expect(withValueAt({}, ["toString"], "")).toEqual({ toString: "" });
  });
});
