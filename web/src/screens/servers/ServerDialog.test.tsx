import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { command } from "../../state/commands";
import { ServerDialog } from "./ServerDialog";

vi.mock("../../state/commands");

it("offers no form to save over an entry that could not be read", async () => {
  vi.mocked(command).mockRejectedValue(new Error("there is no server 'gone'"));
  render(
    <MantineProvider>
      <ServerDialog edited={{ server_id: "gone", isCopy: false }} onClose={() => undefined} />
    </MantineProvider>,
  );
  expect(await screen.findByText("There is no server 'gone'")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
});
