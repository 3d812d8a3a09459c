import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { useShortcuts } from "./Shortcuts";

const onMonitor = vi.fn();

function Page() {
  useShortcuts(true, () => {}, onMonitor);
  return (
    <>
      <button type="button">Beside</button>
      <div data-form>
        <button type="button">Add an item</button>
      </div>
    </>
  );
}

it("a key without Ctrl does nothing within a form, whatever has the focus there", async () => {
  render(<Page />, { wrapper: MemoryRouter });
  screen.getByRole("button", { name: "Add an item" }).focus();
  await userEvent.keyboard("m");
  expect(onMonitor).not.toHaveBeenCalled();
  screen.getByRole("button", { name: "Beside" }).focus();
  await userEvent.keyboard("m");
  expect(onMonitor).toHaveBeenCalledTimes(1);
});
