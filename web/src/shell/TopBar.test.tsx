import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { ServerView } from "../api/types";
import { emptyInspector, useInspector } from "../state/store";
import { aServer } from "../testing/views";
import { TopBar } from "./TopBar";

function shown(server: Partial<ServerView> = {}): HTMLElement {
  const capabilities = { tools: {}, prompts: {} };
  const servers = new Map([["demo", aServer({ capabilities, ...server })]]);
  useInspector.setState({ ...emptyInspector(), servers });
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/s/demo/tools"]}>
        <TopBar isMonitorOpen={false} side="bottom" onMonitor={() => {}} onHelp={() => {}} />
      </MemoryRouter>
    </MantineProvider>,
  );
  return screen.getByRole("banner");
}

it("tells the ping from the revision, also before the first one", () => {
  expect(shown().textContent).toContain("Connected·PingMCP 2025-11-25");
  const revision = screen.getByText("MCP 2025-11-25");
  expect(revision.parentElement?.contains(screen.getByText("Ping"))).toBe(true);
  expect(screen.getByText("Ping").parentElement?.contains(revision)).toBe(false);
});

it("keeps room for a count before it is known", () => {
  const roomOf = (name: string) => screen.getByRole("link", { name }).children.length;
  shown();
  expect(["Tools", "Prompts", "Traffic"].map(roomOf)).toEqual([2, 2, 1]);
});

it("opens the questions by their icon, which has a tooltip as the others have", async () => {
  shown();
  const button = screen.getByRole("button", { name: /0 questions/ });
  expect(button.title).toBe("");
  await userEvent.hover(button);
  expect(screen.getByRole("tooltip").textContent).toContain("0 questions");
  await userEvent.click(button);
  expect(screen.getByRole("menuitem", { name: "All questions" })).toBeTruthy();
  expect(screen.queryByRole("tooltip")).toBeNull();
});
