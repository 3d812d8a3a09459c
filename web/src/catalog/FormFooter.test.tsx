import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { FormFooter } from "./FormFooter";

it("Enter in a field of one line leads to the primary button, which the next one presses", async () => {
  const run = vi.fn();
  const taken = (event: React.KeyboardEvent): void => event.preventDefault();
  render(
    <>
      <div>
        <input aria-label="name" />
        <input aria-label="suggested" onKeyDown={taken} />
        <textarea aria-label="text" />
        <input type="checkbox" aria-label="sure" />
      </div>
      <FormFooter>
        <button type="button" data-run onClick={run}>
          Run
        </button>
      </FormFooter>
      <input aria-label="elsewhere" />
    </>,
  );
  const user = userEvent.setup();
  const button = screen.getByRole("button");
  for (const label of ["suggested", "text", "sure", "elsewhere"]) {
    screen.getByLabelText(label).focus();
    await user.keyboard("{Enter}");
    expect(document.activeElement).not.toBe(button);
  }
  await user.type(screen.getByLabelText("name"), "x{Enter}");
  expect(document.activeElement).toBe(button);
  expect(run).not.toHaveBeenCalled();
  await user.keyboard("{Enter}");
  expect(run).toHaveBeenCalledOnce();
});
