import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { startCall } from "../../state/commands";
import { aCall, aServer } from "../../testing/views";
import { PromptPanel } from "./PromptPanel";

vi.mock("../../state/commands");

const press = (name: string): boolean => fireEvent.click(screen.getByRole("button", { name }));

it("a prompt is asked for without what it requires only by who says so", async () => {
  vi.mocked(startCall).mockResolvedValue(aCall());
  const prompt = {
    name: "translate",
    arguments: [
      { name: "tone", required: false },
      { name: "text", required: true },
    ],
  };
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <PromptPanel server={aServer()} prompt={prompt} itemKey="translate" problem={null} />
      </MemoryRouter>
    </MantineProvider>,
  );
  expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
  press("Get the messages");
  expect(startCall).not.toHaveBeenCalled();
  expect(screen.getByText("1 missing")).toBeTruthy();
  const field = screen.getByRole("textbox", { name: /^text/ });
  await waitFor(() => expect(document.activeElement).toBe(field));
  press("Send anyway");
  expect(startCall).toHaveBeenLastCalledWith(
    "GetPrompt",
    expect.objectContaining({ arguments: {} }),
  );
  fireEvent.change(field, { target: { value: "hello" } });
  expect(screen.queryByRole("button", { name: "Send anyway" })).toBeNull();
  press("Get the messages");
  expect(startCall).toHaveBeenLastCalledWith(
    "GetPrompt",
    expect.objectContaining({ arguments: { text: "hello" } }),
  );
  fireEvent.change(screen.getByRole("textbox", { name: /^tone/ }), { target: { value: "kind" } });
  press("Get the messages");
  const [, asked] = vi.mocked(startCall).mock.lastCall ?? [];
  expect(JSON.stringify(asked)).toContain('"arguments":{"tone":"kind","text":"hello"}');
});
