import { MantineProvider } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { readDraft, useDraft, writeDraft } from "./browserStorage";
import { fillDrafts } from "./filledDrafts";

vi.mock("./commands");

afterEach(() => {
  notifications.clean();
  cleanup();
  sessionStorage.clear();
});

function Form() {
  const [value] = useDraft("form", { text: "initial" });
  return <output>{value.text}</output>;
}

function open(): void {
  render(
    <MantineProvider env="test">
      <Notifications />
      <Form />
    </MantineProvider>,
  );
}

it("restores exactly what was in the form, also what was never written", async () => {
  writeDraft("form", { text: "half typ" });
  open();
  const filled = () =>
    fillDrafts("Filled with “one”", [
      ["form", { text: "saved" }],
      ["form.options", { headers: [] }],
    ]);
  act(filled);
  expect(screen.getByRole("status").textContent).toBe("saved");
  expect(screen.getByText("Filled with “one”")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(screen.getByRole("status").textContent).toBe("half typ");
  expect(readDraft("form.options", null)).toBeNull();
  await waitFor(() => expect(screen.queryByText("Filled with “one”")).toBeNull());
});

it("offers nothing where nothing was replaced", () => {
  open();
  act(() => fillDrafts("Filled", [["form", { text: "saved" }]]));
  act(() => fillDrafts("Filled again", [["form", { text: "saved" }]]));
  expect(screen.getByRole("status").textContent).toBe("saved");
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});
