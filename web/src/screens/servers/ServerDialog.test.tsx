import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ServerDialog } from "./ServerDialog";

vi.mock("../../state/commands", () => ({
  command: () => Promise.reject(new Error("there is no server 'gone'")),
}));

it("offers no form to save over an entry that could not be read", async () => {
  render(
    <MantineProvider>
      <ServerDialog edited={{ server_id: "gone", isCopy: false }} onClose={() => undefined} />
    </MantineProvider>,
  );
  expect(await screen.findByText("There is no server 'gone'")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
});
