import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it, vi } from "vitest";
import { useInspector } from "../state/store";
import { aRunInfo } from "../testing/views";
import { LiveRunNotices, RunSession } from "./RunSession";

const draw = (what: React.ReactNode): void => {
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/traffic?run=run"]}>{what}</MemoryRouter>
    </MantineProvider>,
  );
};

const side = (name: string, capabilities: Record<string, unknown> = {}) => ({
  info: { name, version: "1.2" },
  capabilities,
  instructions: null,
});

it("says of a live session who speaks, what waits and what is wrong", async () => {
  const waiting = [
    {
      seq: 7,
      wall: 1,
      server_id: "files",
      method: "tools/call",
      request_id: 3,
      is_question: false,
    },
    { seq: 9, wall: 2, server_id: "files", method: "roots/list", request_id: 1, is_question: true },
  ];
  const info = aRunInfo(
    {},
    {
      client: side("claude", { roots: {} }),
      server: side("fs", { tools: {} }),
      era: "handshake",
      protocol_version: "2025-11-25",
      message_count: 12,
      problem_count: 1,
      waiting,
    },
  );
  useInspector.setState({ runs: new Map([["run", info]]) });
  const problems = vi.fn();
  draw(<RunSession runId="run" onProblems={problems} />);
  expect(screen.getByRole("status").textContent).toBe(
    "claude 1.2 → files · MCP 2025-11-25 · 12 messages",
  );
  for (const text of ["Live", "1 without an answer", "1 question waits", "1 protocol problem"])
    expect(screen.getByText(text)).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "1 protocol problem" }));
  expect(problems).toHaveBeenCalledOnce();
  await userEvent.click(screen.getByRole("button", { name: "Session details" }));
  const dialog = within(await screen.findByRole("dialog"));
  expect(dialog.getByText(/Revision 2025-11-25, begun with initialize/)).toBeDefined();
  expect(dialog.getByRole("link", { name: "tools/call" }).getAttribute("href")).toBe(
    "/traffic/7?run=run",
  );
  expect(dialog.getByText(/asked by the server/)).toBeDefined();
});

it("names all servers of a session that had several, and says that it did not end well", async () => {
  const info = aRunInfo(
    { servers: ["files", "web"], is_live: false },
    { server: side("fs"), protocol_version: "2025-11-25", message_count: 12 },
  );
  useInspector.setState({ runs: new Map([["run", info]]) });
  draw(<RunSession runId="run" onProblems={vi.fn()} />);
  expect(screen.getByRole("status").textContent).toBe("mcplens → files, web · 12 messages");
  expect(screen.getByText("Ended unexpectedly")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Session details" }));
  expect(within(await screen.findByRole("dialog")).getByText("mcplens")).toBeDefined();
});

it("offers to follow what another process records, and no longer once it has ended", async () => {
  const onFollow = vi.fn();
  useInspector.setState({
    runs: new Map([
      ["run", aRunInfo({})],
      ["old", aRunInfo({ run_id: "old", is_live: false, servers: ["old"] })],
    ]),
  });
  draw(<LiveRunNotices onFollow={onFollow} />);
  expect(screen.getAllByRole("status")).toHaveLength(1);
  await userEvent.click(screen.getByRole("button", { name: "Follow it" }));
  expect(onFollow).toHaveBeenCalledWith("run");
});
