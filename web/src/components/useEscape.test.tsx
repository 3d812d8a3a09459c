import { render } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useEscape } from "./useEscape";

function Details({ close }: { close(): void }) {
  useEscape(true, close);
  return null;
}

const press = (): void => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
};

it("closes the details, but not with a dialog above them that the same key closes", () => {
  const close = vi.fn();
  render(<Details close={close} />);
  const dialog = document.body.appendChild(document.createElement("div"));
  dialog.setAttribute("role", "dialog");
  dialog.checkVisibility = () => true;
  const closing = (): void => dialog.remove();
  window.addEventListener("keydown", closing, true);
  press();
  expect(close).not.toHaveBeenCalled();
  press();
  expect(close).toHaveBeenCalledOnce();
  window.removeEventListener("keydown", closing, true);
});
