import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import { RunChooser } from "./RunChooser";

afterEach(() => vi.unstubAllGlobals());

const aRun = (at: number) => ({
  run_id: `run-${at}`,
  started: at,
  ended: at + 1,
  title: "",
  version: "1",
  servers: [`server-${at}`],
  event_count: 1,
  size_bytes: 1,
  last_seq: 1,
  is_live: false,
  client: null,
});

it("offers older runs, and stays open when they are asked for", async () => {
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
  await user.click(screen.getByRole("combobox", { name: "Which run" }));
  await user.click(await screen.findByRole("option", { name: "Older runs…" }));
  expect(await screen.findByRole("option", { name: /server-59/ })).toBeDefined();
  expect(screen.queryByRole("option", { name: "Older runs…" })).toBeNull();
});
