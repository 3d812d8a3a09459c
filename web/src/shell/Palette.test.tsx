import { MantineProvider } from "@mantine/core";
import { act, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ListKind, ListView } from "../api/types";
import { command } from "../state/commands";
import { emptyInspector, useInspector } from "../state/store";
import { aServer } from "../testing/views";
import { Palette } from "./Palette";
import { closePalette, openPalette } from "./paletteStore";

vi.mock("../state/commands");

interface Asked {
  server_id: string;
  kind: ListKind;
  answer(names: string[]): void;
}
const asked: Asked[] = [];

function ask(type: string, { server_id, kind }: Asked): Promise<ListView> {
  return new Promise((resolve) => {
    const answer = (names: string[]): void =>
      resolve({
        server_id,
        kind,
        start: 0,
        items: names.map((name) => ({ value: { name }, problem: null })),
        fetched: 1,
        next_cursor: null,
        is_complete: true,
        dropped: [],
        change: null,
      });
    if (type === "List") asked.push({ server_id, kind, answer });
  });
}

const summary = (kind: ListKind, count: number) => ({
  kind,
  count,
  fetched: 1,
  is_changed: false,
  error: null,
  pages: 1,
  next_cursor: null,
  asked: null,
  awaited: 0,
  has_apps: false,
});
const capabilities = { tools: {}, prompts: {} };
const put = (...lists: ReturnType<typeof summary>[]): void =>
  useInspector.setState({
    ...emptyInspector(),
    servers: new Map([
      ["near", aServer({ server_id: "near", capabilities, lists })],
      ["off", aServer({ server_id: "off", capabilities, state: "DISCONNECTED" })],
    ]),
  });

beforeEach(() => {
  vi.mocked(command).mockImplementation(ask as never);
  vi.stubGlobal("fetch", () => Promise.reject(new Error("no backend")));
});
afterEach(() => void act(closePalette));

it("fetches the lists of connected servers once, and says so until they are there", async () => {
  put();
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/s/near/logs"]}>
        <Palette isSingle isMonitorOpen onMonitor={() => {}} onHelp={() => {}} />
      </MemoryRouter>
    </MantineProvider>,
  );
  expect(asked).toEqual([]);
  act(() => openPalette());
  expect(asked.map(({ server_id, kind }) => `${server_id} ${kind}`)).toEqual([
    "near tools",
    "near prompts",
  ]);
  const status = () => screen.getByRole("status").textContent;
  expect(status()).toBe("Still loading the lists of near…");
  await act(async () => asked[0]?.answer(["add"]));
  expect(status()).toBe("Still loading the lists of near…");
  await act(async () => asked[1]?.answer(["greet", "translate"]));
  expect(status()).toBe("");
  // What is loaded is not fetched again, and what the server changed since is.
  act(() => closePalette());
  put(summary("tools", 1), summary("prompts", 3));
  act(() => openPalette());
  expect(asked.slice(2).map(({ kind }) => kind)).toEqual(["prompts"]);
});
