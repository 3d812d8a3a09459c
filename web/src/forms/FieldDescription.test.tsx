// What a schema says of a value stands at its field, and belongs to it for a screen reader too.
import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { one, renderForm } from "./testing";

vi.mock("../components/CodeEditor");
vi.setConfig({ testTimeout: 60_000 });

const about = (element: HTMLElement): string =>
  (element.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .map((id) => document.getElementById(id)?.textContent ?? "")
    .join(" ")
    .trim();

const LIST = { type: "array", items: { type: "integer", minimum: 1 }, maxItems: 3 };
const SIZE = { type: "string", description: "How big", enum: ["s", "l"], default: "s" };

it.each([
  ["textbox", { type: "string", maxLength: 80 }, "text, up to 80 characters"],
  ["textbox", { type: "string", description: "A name" }, "A name"],
  ["textbox", { type: "integer", minimum: 1, maximum: 10 }, "integer, 1–10"],
  ["textbox", { type: ["integer", "null"] }, "integer or null"],
  ["combobox", SIZE, 'How bigone of 2, default "s"'],
  ["checkbox", { type: "boolean", default: true }, "default true"],
  ["group", LIST, "array, up to 3 items, each integer, at least 1"],
])("as %s: %j", async (role, schema, words) => {
  await renderForm(one(schema));
  const named = role === "checkbox" || role === "group" ? {} : { name: "it" };
  expect(about(screen.getByRole(role, named))).toBe(words);
});

it("says of each item what it is once, at the list", async () => {
  await renderForm(one({ ...LIST, default: [1, 2] }));
  expect(screen.getAllByRole("textbox")).toHaveLength(2);
  expect(screen.getAllByText(/each integer/)).toHaveLength(1);
  expect(screen.queryByText(/^integer/)).toBeNull();
});

it("does not say twice what one of several kinds is", async () => {
  await renderForm(one({ anyOf: [{ type: "integer" }, { type: "boolean" }] }));
  expect(about(screen.getByRole("textbox", { name: "integer" }))).toBe("");
});

it("follows a reference", async () => {
  await renderForm({ ...one({ $ref: "#/$defs/size" }), $defs: { size: SIZE } });
  expect(screen.getByText('one of 2, default "s"')).toBeTruthy();
});
