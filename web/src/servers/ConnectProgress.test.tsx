import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import type { ServerView } from "../api/types";
import { useInspector } from "../state/store";
import { aServer } from "../testing/views";
import { NotConnected } from "./NotConnected";

vi.mock("../state/commands");

const LINE = "downloading model 40 %";

function show(part: Partial<ServerView>): void {
  useInspector.setState({ run_id: "run" });
  render(
    <MantineProvider>
      <MemoryRouter>
        <NotConnected server={aServer({ stderr_tail: [LINE], ...part })} icon="tools" />
      </MemoryRouter>
    </MantineProvider>,
  );
}

it("shows what a server writes to stderr while it is being connected", () => {
  show({ state: "CONNECTING" });
  expect(screen.getByLabelText("Last lines of stderr").textContent).toBe(LINE);
});

it("shows none of an earlier run when nothing is being connected", () => {
  show({ state: "DISCONNECTED" });
  expect(screen.queryByText(LINE)).toBeNull();
});
