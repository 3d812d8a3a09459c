// A file becomes the base64 of its bytes.
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { bytesIn, MOST_FILE_BYTES } from "./FileField";
import { field, one, renderForm, type } from "./testing";

vi.mock("../components/CodeEditor");
vi.setConfig({ testTimeout: 60_000 });

const picker = (): HTMLInputElement =>
  document.querySelector("input[type=file]") as HTMLInputElement;
const file = (content: BlobPart, name: string): File => new File([content], name);

it.each([
  ["contentEncoding", { type: "string", contentEncoding: "base64" }],
  ["format byte", { type: "string", format: "byte" }],
])("is taken where %s says so", async (_, schema) => {
  const page = await renderForm(one(schema));
  expect(screen.getByRole("button", { name: "Choose a file for it" })).toBeTruthy();
  await userEvent.upload(picker(), file(new Uint8Array([0, 1, 254, 255]), "four.bin"));
  expect(await screen.findByText("four.bin, 4 B")).toBeTruthy();
  expect(page.sent()).toEqual({ it: "AAH+/w==" });
  await type("A");
  expect(page.sent()).toEqual({ it: "AAH+/w==A" });
  expect(screen.queryByText("four.bin, 4 B")).toBeNull();
});

it("is empty text if the file is empty", async () => {
  const page = await renderForm(one({ type: "string", format: "byte" }));
  await userEvent.upload(picker(), file("", "none.bin"));
  expect(await screen.findByText("none.bin, 0 B")).toBeTruthy();
  expect(page.sent()).toEqual({ it: "" });
});

it("is refused over the limit, and what stands there stays", async () => {
  const page = await renderForm(one({ type: "string", format: "byte" }));
  await type("AAAA");
  const large = file("x", "large.bin");
  Object.defineProperty(large, "size", { value: MOST_FILE_BYTES + 1 });
  await userEvent.upload(picker(), large);
  expect(screen.getByText("large.bin has 10.0 MB; a form takes up to 10 MB.")).toBeTruthy();
  expect(page.sent()).toEqual({ it: "AAAA" });
});

it("that is long is shown by its beginning, and can be removed", async () => {
  const page = await renderForm(one({ type: "string", format: "byte" }));
  await userEvent.upload(picker(), file(new Uint8Array(30_000), "zeros.bin"));
  expect(await screen.findByText("zeros.bin, 30 kB")).toBeTruthy();
  expect((field() as HTMLInputElement).value).toHaveLength(200);
  expect((page.sent() as { it: string }).it).toHaveLength(40_000);
  await userEvent.click(screen.getByRole("button", { name: "Remove" }));
  expect(page.sent()).toEqual({});
});

it("is as large as its base64 says", () => {
  expect(["", "AA==", "AAA=", "AAAA"].map(bytesIn)).toEqual([0, 1, 2, 3]);
});
