import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import { type Item, itemOf } from "../../state/items";
import * as lists from "../../state/lists";
import { emptyInspector, useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { ToolList } from "./ToolList";
import type { Tool } from "./toolHints";
import { biggestFirst, sizeOf, sizeOfAll, tokenEstimate } from "./toolSize";

let listed: Item<Tool>[] = [];

const item = (value: object, at = 0): Item<Tool> =>
  itemOf("tools", { value, problem: null } as never, at) as Item<Tool>;

const TOOLS = [
  { name: "look", annotations: { readOnlyHint: true } },
  { name: "search", annotations: { readOnlyHint: true, openWorldHint: true } },
  { name: "drop", description: "x".repeat(400), annotations: { destructiveHint: true } },
  { name: "brew", execution: { taskSupport: "optional" } },
];

const names = (): string[] =>
  screen.queryAllByRole("option").map((row) => row.querySelector(".grow")?.textContent ?? "");

function open(chosen: string | null = null) {
  useInspector.setState({ ...emptyInspector(), servers: new Map([["demo", aServer()]]) });
  return render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ToolList serverId="demo" chosen={chosen} />
      </MemoryRouter>
    </MantineProvider>,
  );
}

beforeEach(() => {
  listed = TOOLS.map(item);
  // Without a height, the list would draw no row.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  vi.spyOn(lists, "useList").mockImplementation(() => ({
    items: listed,
    count: listed.length,
    fetched: 1,
    change: null,
    isLoading: false,
    error: null,
    summary: null,
    isThere: true,
  }));
});

const chip = (name: string) => screen.getByRole("button", { name: new RegExp(`^${name}`) });

it("offers the tags that occur, and leaves the tools that have all that are chosen", async () => {
  const { unmount } = open();
  const group = screen.getByRole("group", { name: "Filter tools" });
  expect([...group.children].map((one) => one.textContent)).toEqual([
    "read-only 2",
    "destructive 1",
    "open-world 1",
    "can run as a task 1",
  ]);
  await userEvent.click(chip("read-only"));
  expect(names()).toEqual(["look", "search"]);
  await userEvent.click(chip("open-world"));
  expect(names()).toEqual(["search"]);
  unmount();
  open();
  expect(chip("open-world").getAttribute("aria-pressed")).toBe("true");
  expect(names()).toEqual(["search"]);
  await userEvent.click(chip("destructive"));
  expect(names()).toEqual([]);
  screen.getByText("Only tools marked “read-only”, “open-world”, “destructive” are shown.");
  await userEvent.click(screen.getByRole("button", { name: "Show all" }));
  expect(names()).toHaveLength(4);
});

it("drops the tags when a tool is opened that they hide", async () => {
  const { rerender } = open();
  await userEvent.click(chip("read-only"));
  rerender(
    <MantineProvider env="test">
      <MemoryRouter>
        <ToolList serverId="demo" chosen="drop" />
      </MemoryRouter>
    </MantineProvider>,
  );
  expect(chip("read-only").getAttribute("aria-pressed")).toBe("false");
  expect(names()).toHaveLength(4);
});

it("has no tags where no tool says anything", () => {
  listed = [item({ name: "plain" })];
  open();
  expect(screen.queryByRole("group", { name: "Filter tools" })).toBeNull();
});

it("sums up what the tools cost, and puts the biggest first", async () => {
  open();
  const size = sizeOfAll(TOOLS.map(item));
  screen.getByText(`About ${Math.ceil(size / 4)} tokens for a model`);
  expect(names()[0]).toBe("look");
  await userEvent.click(screen.getByRole("button", { name: "Sort by size" }));
  expect(names()[0]).toBe("drop");
  expect(screen.getAllByRole("option")[0]?.textContent).toContain("about 108 tokens");
});

it("counts what a model is told, and writes each tool out once", () => {
  const told = { name: "a", description: "b", inputSchema: { type: "object" } };
  const tool = item({ ...told, outputSchema: { type: "object" }, title: "Not told" });
  expect(sizeOf(tool.value)).toBe(JSON.stringify(told).length);
  const written = vi.spyOn(JSON, "stringify");
  const many = Array.from({ length: 5000 }, (_, at) => item({ name: `tool-${at}` }, at));
  sizeOfAll(many);
  biggestFirst(many);
  expect(written).toHaveBeenCalledTimes(5000);
  written.mockRestore();
  expect(tokenEstimate(1)).toBe("about 1 token");
  expect(tokenEstimate(4001)).toBe("about 1,001 tokens");
});
