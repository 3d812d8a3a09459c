// A value of one of several kinds: which of them is drawn, and when that changes.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { box, field, one, paste, pick, renderForm } from "./testing";

vi.mock("../components/CodeEditor");
// Keys are typed one by one, and the first test waits for the form's code.
vi.setConfig({ testTimeout: 60_000 });

describe("one of several kinds", () => {
  it("follows a value from outside, and not what is typed", async () => {
    const text = { type: "string", title: "text", maxLength: 3 };
    const page = await renderForm(one({ anyOf: [{ type: "integer", title: "number" }, text] }));
    expect(box()).toHaveProperty("value", "number");
    page.put('{"it": "abc"}');
    expect(box()).toHaveProperty("value", "text");
    await userEvent.type(screen.getByDisplayValue("abc"), "d");
    expect(page.sent()).toEqual({ it: "abcd" });
    expect(box()).toHaveProperty("value", "text");
    page.put('{"it": 4}');
    expect(box()).toHaveProperty("value", "number");
  });
  it("forgets what was half typed in the kind that is left", async () => {
    const kinds = [
      { type: "integer", title: "number" },
      { type: "string", title: "text" },
    ];
    await renderForm(one({ anyOf: kinds }), { isTried: true });
    await userEvent.type(screen.getByRole("textbox"), "1x");
    expect(screen.getByText(/is not a number/)).toBeTruthy();
    await pick("text");
    expect(screen.queryByText(/is not a number/)).toBeNull();
  });
  const schema = one({ description: "Either", anyOf: [{ type: "integer" }, { type: "string" }] });
  it("is chosen, and JSON is always among them", async () => {
    const page = await renderForm(schema);
    expect(screen.getByText("Either")).toBeTruthy();
    await userEvent.type(field("integer"), "5");
    expect(page.sent()).toEqual({ it: 5 });
    await pick("string");
    await userEvent.type(field("string"), "6");
    expect(page.sent()).toEqual({ it: "6" });
    await pick("JSON");
    await paste(field("it as JSON"), "7");
    expect(page.sent()).toEqual({ it: 7 });
    expect(field("it as JSON")).toBeTruthy();
    await paste(field("it as JSON"), "[7]");
    expect(page.sent()).toEqual({ it: [7] });
  });
  it("is known again from the value", async () => {
    await renderForm(schema, { start: { text: '{"it": "x"}', mode: "form" } });
    expect(box()).toHaveProperty("value", "string");
  });
  it("is known again from a field that is half typed", async () => {
    const kind = (name: string, type: string) => ({
      type: "object",
      title: `object with ${name}`,
      properties: { [name]: { type } },
      required: [name],
    });
    const either = one({ anyOf: [kind("name", "string"), kind("id", "integer")] });
    await renderForm(either, {
      start: { text: '{"it": {}}', mode: "form", partial: { "/it/id": "1x" } },
    });
    expect(box()).toHaveProperty("value", "object with id");
    expect(screen.getByDisplayValue("1x")).toBeTruthy();
  });
});
