import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { ListChangeView } from "../api/types";
import type { List } from "../state/lists";
import { ListChange } from "./ListChange";

const NONE = { count: 0, names: [] };
const changed = (part: Partial<ListChangeView>): ListChangeView => ({
  at: 5,
  added: NONE,
  removed: NONE,
  changed: NONE,
  ...part,
});
const summary: NonNullable<List["summary"]> = {
  kind: "resource_templates",
  count: 0,
  fetched: 5,
  is_changed: true,
  error: null,
  pages: 1,
  next_cursor: null,
  asked: null,
  awaited: 2,
  has_apps: false,
};

function show(part: Partial<List>) {
  const held = { items: [], count: 0, fetched: 5, change: null, isLoading: false, error: null };
  const list = { ...held, summary, isThere: true, ...part };
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ListChange serverId="one" kind="resource_templates" list={list} />
      </MemoryRouter>
    </MantineProvider>,
  );
}

const open = () => userEvent.click(screen.getByRole("button"));

it("names what changed, leads to it, and counts what it does not name", async () => {
  const added = { count: 1200, names: ["a://{x}"] };
  show({ change: changed({ added, removed: { count: 1, names: ["b://{y}"] } }) });
  await open();
  const region = screen.getByRole("region", { name: "What changed" });
  expect(region.textContent).toContain("1,200 addeda://{x}and 1,199 more1 removedb://{y}");
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/s/one/resources?template=a%3A%2F%2F%7Bx%7D"]);
});

it("says that a list which was announced is the same", async () => {
  show({ change: changed({}) });
  await open();
  expect(screen.getByText("The list is the same as before.")).toBeTruthy();
});

it("only says that it changed, where it is not known what did", () => {
  show({ change: null });
  show({ change: changed({}), fetched: 4 });
  expect(screen.getAllByText(/^changed, refreshed at/)).toHaveLength(2);
  expect(screen.queryByRole("button")).toBeNull();
  show({ summary: null });
  expect(screen.getAllByText(/^changed, refreshed at/)).toHaveLength(2);
});
