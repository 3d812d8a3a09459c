import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { startCall } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aCall, anEvent, aServer } from "../../testing/views";
import { ReplayButton } from "./ReplayButton";

vi.mock("../../state/commands");

it("says of the last request alone that it was sent again, and leads to its call", async () => {
  useInspector.setState({ ...emptyInspector(), servers: new Map([["demo", aServer()]]) });
  for (const call_id of ["c1", "c2"])
    vi.mocked(startCall).mockResolvedValueOnce(aCall({ call_id, method: "tools/call" }));
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <Notifications />
        <ReplayButton event={anEvent({ seq: 1 })} />
      </MemoryRouter>
    </MantineProvider>,
  );
  const user = userEvent.setup();
  const again = screen.getByRole("button", { name: "Send again" });
  await user.click(again);
  await screen.findByText(/tools\/call was sent again/);
  await user.click(again);
  await waitFor(() =>
    expect(screen.getByRole("link", { name: "Show the call" }).getAttribute("href")).toContain(
      "c2",
    ),
  );
});
