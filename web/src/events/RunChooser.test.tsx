import { MantineProvider } from "@mantine/core";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import { useInspector } from "../state/store";
import { RunChooser } from "./RunChooser";

afterEach(() => vi.unstubAllGlobals());

const aRun = (at: number) => ({
  run_id: `run-${at}`,
  started: at,
  ended: at + 1,
  title: at === 1 ? "call server-1" : "",
  version: "1",
  servers: [`server-${at}`],
  event_count: 1,
  size_bytes: 1,
  last_seq: 1,
  is_live: false,
  client: at === 1 ? "claude-ai" : null,
  message_count: at === 2 ? null : 12,
  error_count: at === 1 ? 2 : 0,
  called: at === 1 ? ["echo", "fail"] : [],
});

it("lists sessions with server, client, time and messages; offers older ones, and stays open when they are asked for", async () => {
  const answer = (url: string): Response => {
    const limit = Number(new URL(url, "http://x").searchParams.get("limit"));
    const runs = Array.from({ length: Math.min(limit, 60) }, (_, at) => aRun(at));
    return Response.json({ runs, has_more: limit < 60 });
  };
  vi.stubGlobal("fetch", async (url: string) => answer(url));
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/traffic"]}>
        <RunChooser />
      </MemoryRouter>
    </MantineProvider>,
  );
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Session: This session" }));
  const item = (name: RegExp) => screen.findByRole("menuitem", { name });
  expect(
    await item(
      /server-1 ?from claude-ai ?recorded by call server-1.*12 messages · 2 errors ?echo, fail/,
    ),
  ).toBeDefined();
  expect(await item(/server-2.*1 event/)).toBeDefined();
  await user.click(await item(/Older sessions…/));
  expect(await item(/server-59/)).toBeDefined();
  expect(screen.queryByRole("menuitem", { name: "Older sessions…" })).toBeNull();
});

it("an open session is named by what was called in it, else by its server; without the day if today", async () => {
  const now = Date.now() / 1000;
  const runs = [aRun(1), aRun(2), { ...aRun(3), started: now, called: ["add"] }];
  vi.stubGlobal("fetch", async () => Response.json({ runs, has_more: false }));
  const { link } = useInspector.getState();
  useInspector.setState({ link: { ...link, state: "open" } });
  const named = async (run: string): Promise<string | null> => {
    const { unmount } = render(
      <MantineProvider env="test">
        <MemoryRouter initialEntries={[`/traffic?run=${run}`]}>
          <RunChooser />
        </MemoryRouter>
      </MantineProvider>,
    );
    const button = await screen.findByRole("button", { name: /^Session: .*\d/ });
    const name = button.textContent;
    unmount();
    return name;
  };
  expect(await named("run-1")).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\d, echo, fail$/);
  expect(await named("run-2")).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\d, server-2$/);
  expect(await named("run-3")).toMatch(/^\d\d:\d\d:\d\d, add$/);
});

it.each([0, 2])("offers to open an earlier session if there are any: %i", async (count) => {
  const runs = Array.from({ length: count }, (_, at) => aRun(at));
  const asked = vi.fn(async () => Response.json({ runs, has_more: false }));
  vi.stubGlobal("fetch", asked);
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/traffic"]}>
        <RunChooser offer="Open an earlier session" />
      </MemoryRouter>
    </MantineProvider>,
  );
  // A page that is not signed in yet would be refused, and would never offer any.
  expect(asked).not.toHaveBeenCalled();
  const { link } = useInspector.getState();
  act(() => useInspector.setState({ link: { ...link, state: "open" } }));
  await act(async () => void (await asked.mock.results[0]?.value));
  const button = screen.queryByRole("button", { name: "Open an earlier session" });
  expect(button !== null).toBe(count > 0);
  if (button) await userEvent.click(button);
  expect(screen.queryAllByRole("menuitem")).toHaveLength(count);
});
