// What a field says about what is sent is what is sent, whatever is chosen or typed elsewhere.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { field, type RenderedForm, renderForm } from "./testing";

vi.mock("../components/CodeEditor");

const LIST = { type: "array", items: { type: "string" } };
const SEVERAL = { type: "array", items: { enum: ["a", "b"] } };
const TITLED = { type: "array", items: { anyOf: [{ const: "a", title: "A" }] }, minItems: 1 };
const OBJECT = { type: "object", properties: { inner: { type: "string" } } };
const orNull = (schema: object): object => ({ anyOf: [schema, { type: "null" }] });

const KINDS: [string, object][] = [
  ["text or null", orNull({ type: "string" })],
  ["a checkbox", { type: "boolean" }],
  ["several choices", SEVERAL],
  ["several titled choices or null", orNull(TITLED)],
  ["several choices with an empty default", { ...SEVERAL, default: [] }],
  ["a list", LIST],
  ["an object", OBJECT],
];
const SAYS: Record<string, unknown> = {
  "Not sent": undefined,
  "Sent as empty text": "",
  "Sent as an empty list": [],
  "Sent as an empty object": {},
  "Sent as false": false,
  "Sent as null": null,
};

const select = (): HTMLSelectElement | undefined =>
  screen
    .queryAllByLabelText<HTMLSelectElement>("When empty")
    .find((one) => one.getAttribute("aria-describedby") === "test_it-label");
const said = (): string | undefined =>
  [...(select()?.options ?? [])].find(({ value }) => value === select()?.value)?.text;
const sentOf = (page: RenderedForm): unknown => (page.sent() as Record<string, unknown>).it;

function expectTruth(page: RenderedForm): void {
  const words = said();
  if (words !== undefined)
    expect({ words, sent: sentOf(page) }).toEqual({ words, sent: SAYS[words] });
}

describe.each([
  ["optional", []],
  ["required", ["it"]],
])("of a field that is %s", (_, required) => {
  it.each(KINDS)("%s says what is sent", async (_kind, schema) => {
    const properties = { it: schema, other: { type: "string" } };
    const page = await renderForm({ type: "object", properties, required });
    expectTruth(page);
    const before = sentOf(page);
    await userEvent.type(field(/^other/), "x");
    expect(sentOf(page)).toEqual(before);
    for (const words of [...(select()?.options ?? [])].map((option) => option.text)) {
      await userEvent.selectOptions(select() as HTMLElement, words);
      expect(said()).toBe(words);
      expectTruth(page);
      await userEvent.type(field(/^other/), "x");
      expect(said()).toBe(words);
      expectTruth(page);
    }
  });
});

it("several choices inside a branch and inside an item say what is sent", async () => {
  const inner = { type: "object", properties: { it: SEVERAL }, required: ["it"] };
  const page = await renderForm(
    {
      type: "object",
      properties: { a: { anyOf: [inner, { type: "string" }] }, b: { type: "array", items: inner } },
    },
    { start: { text: '{"a": {"it": []}, "b": [{"it": []}, {}]}', mode: "form" } },
  );
  const all = (): HTMLSelectElement[] =>
    screen
      .getAllByLabelText<HTMLSelectElement>("When empty")
      .filter((one) => one.getAttribute("aria-describedby")?.endsWith("_it-label"));
  expect(all().map(({ value }) => value)).toEqual(["empty", "empty", "nothing"]);
  for (const at of [0, 1]) await userEvent.selectOptions(all()[at] as HTMLElement, "Not sent");
  await userEvent.selectOptions(all()[2] as HTMLElement, "Sent as an empty list");
  expect(all().map(({ value }) => value)).toEqual(["nothing", "nothing", "empty"]);
  expect(page.sent()).toEqual({ a: {}, b: [{}, { it: [] }] });
});
