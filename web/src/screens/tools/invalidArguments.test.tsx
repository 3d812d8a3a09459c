import { MantineProvider } from "@mantine/core";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import { formModule } from "../../forms/ArgumentsEditor";
import { command, startCall } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aCall, aServer } from "../../testing/views";
import { ToolPanel } from "./ToolPanel";

vi.mock("../../state/commands");

const number = { type: "number" };
const TOOL = {
  name: "add",
  inputSchema: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
};

// The form is a large module; a busy machine needs its time to load it.
beforeAll(async () => void (await formModule.load()), 60_000);

beforeEach(() => {
  sessionStorage.clear();
  vi.mocked(command).mockResolvedValue([] as never);
  vi.mocked(startCall).mockReset().mockResolvedValue(aCall());
  useInspector.setState(emptyInspector());
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ToolPanel server={aServer()} tool={TOOL} itemKey="add" problem={null} />
      </MemoryRouter>
    </MantineProvider>,
  );
});

const field = (name: string): Promise<HTMLElement> =>
  screen.findByRole("textbox", { name: new RegExp(`^${name}\\b`) });
const sent = (): unknown => vi.mocked(startCall).mock.calls[0]?.[2];

it("Run leads to the first field that is not valid, and says beside it how many are not", async () => {
  const user = userEvent.setup();
  await user.type(await field("b"), "3");
  expect(screen.queryByText(/not valid/)).toBeNull();
  await user.click(screen.getByRole("button", { name: "Run" }));
  expect(screen.getByText("1 field is not valid")).toBeTruthy();
  const first = await field("a");
  await waitFor(() => expect(document.activeElement).toBe(first));
  expect(startCall).not.toHaveBeenCalled();
  await user.type(first, "1");
  expect(screen.queryByText(/not valid/)).toBeNull();
  expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
});

it("a field that says what is wrong with it can be sent anyway, in the order of the schema", async () => {
  const user = userEvent.setup();
  await user.type(await field("b"), "3");
  await user.type(await field("a"), "abc");
  expect(screen.getByText(/^This is not a number/)).toBeTruthy();
  expect(screen.getByText("1 field is not valid")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Send anyway" }));
  const args = JSON.stringify({ a: "abc", b: 3 }, null, 2);
  expect(sent()).toEqual(expect.objectContaining({ arguments: args }));
});

it("what is not valid is led to from the schema too", async () => {
  const user = userEvent.setup();
  await field("a");
  await user.click(screen.getByRole("tab", { name: "Schema" }));
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(screen.getByRole("tab", { name: "Call", selected: true })).toBeTruthy();
  const first = await field("a");
  await waitFor(() => expect(document.activeElement).toBe(first));
});

it("arguments are sent in the order of the schema, whatever was typed first", async () => {
  const user = userEvent.setup();
  await user.type(await field("b"), "3");
  await user.type(await field("a"), "2");
  await user.click(screen.getByRole("button", { name: "Run" }));
  expect(sent()).toEqual(expect.objectContaining({ arguments: '{\n  "a": 2,\n  "b": 3\n}' }));
});
