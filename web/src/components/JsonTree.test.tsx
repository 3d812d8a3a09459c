import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseExactly } from "../values/exactJson";
import { JsonTree } from "./JsonTree";

const shown = (): (string | null)[] =>
  [...document.querySelectorAll('[role="treeitem"]')].map(
    (row) => row.textContent?.replace(/\s/g, "") ?? null,
  );
const view = (value: unknown, label = "Task") => (
  <MantineProvider env="test">
    <JsonTree value={value} label={label} />
  </MantineProvider>
);
const press = (...keys: string[]): void => {
  for (const key of keys) fireEvent.keyDown(screen.getByRole("tree"), { key });
};

describe("a JSON tree", () => {
  // Without a height, no row would be drawn.
  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  });
  it("keeps what was closed when its value comes anew, and opens another one afresh", () => {
    const { rerender } = render(view({ a: { b: 1 }, at: 1 }));
    press("ArrowDown", "ArrowDown", "ArrowLeft");
    expect(shown()).toEqual(["{2keys", "a{b:1}1key", "at1"]);
    rerender(view({ a: { b: 1 }, at: 2 }));
    expect(shown()).toEqual(["{2keys", "a{b:1}1key", "at2"]);
    rerender(view({ a: { b: 1 }, at: 2 }, "Other"));
    expect(shown()).toEqual(["{2keys", "a{1key", "b1", "at2"]);
  });
  it("opens a long list that stands alone, and has a search by how much is in it", () => {
    const items = Array.from({ length: 300 }, (_, n) => ({ n }));
    const { rerender } = render(view({ items }));
    expect(shown().slice(0, 3)).toEqual(["{1key", "items[300items", "0{n:0}1key"]);
    rerender(view({ items, total: 300 }));
    expect(shown()[1]).toMatch(/^items\[\{n:0\},\{n:1\},.*…\]300items$/);
    expect(shown()[2]).toBe("total300");
    const search = screen.getByLabelText("Search in JSON");
    fireEvent.change(search, { target: { value: "17" } });
    expect(screen.getByText("1 of 13")).toBeTruthy();
    expect(shown()).toContain("n17");
    expect(document.querySelector("mark")?.textContent).toBe("17");
    fireEvent.keyDown(search, { key: "Enter" });
    expect(screen.getByText("2 of 13")).toBeTruthy();
    rerender(view({ items: items.slice(0, 5) }, "Small"));
    expect(screen.queryByLabelText("Search in JSON")).toBeNull();
  });
  it("has long lists in groups, through which keys and the search lead", () => {
    render(view({ items: Array.from({ length: 5000 }, (_, n) => ({ n })) }));
    expect(shown().slice(0, 4)).toEqual([
      "{1key",
      "items[5,000items",
      "0…999[1,000items",
      "0{n:0}1key",
    ]);
    press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft");
    expect(shown().slice(2)).toEqual([
      "0…999[…]1,000items",
      "1000…1999[…]1,000items",
      "2000…2999[…]1,000items",
      "3000…3999[…]1,000items",
      "4000…4999[…]1,000items",
    ]);
    const search = screen.getByLabelText("Search in JSON");
    fireEvent.change(search, { target: { value: "4003" } });
    expect(shown()).toContain("n4003");
  });
  it("says when more is found than it steps through", () => {
    const many = (count: number) => Array.from({ length: count }, () => "needle");
    const { rerender } = render(view(many(1000)));
    fireEvent.change(screen.getByLabelText("Search in JSON"), { target: { value: "needle" } });
    expect(screen.getByText("1 of 1000")).toBeTruthy();
    rerender(view(many(1001)));
    expect(screen.getByText("1 of 1000+")).toBeTruthy();
  });
  it("tells which row is chosen, and copies it by a key", () => {
    const written = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
    render(view(parseExactly('{"id": 12345678901234567890}').value));
    press("c");
    expect(written).not.toHaveBeenCalled();
    press("ArrowDown", "ArrowDown", "c");
    const tree = screen.getByRole("tree");
    const chosen = document.getElementById(tree.getAttribute("aria-activedescendant") ?? "");
    expect(chosen?.textContent).toBe("id12345678901234567890");
    expect(written).toHaveBeenCalledWith("12345678901234567890");
    fireEvent.keyDown(tree, { key: "c", ctrlKey: true });
    expect(written).toHaveBeenCalledTimes(1);
    press("p");
    expect(written).toHaveBeenLastCalledWith("$.id");
  });
  it("expands all below a node, by key or button", () => {
    const deep = { a: { b: { c: { d: 1 } } }, list: Array.from({ length: 300 }, (_, n) => n) };
    render(view({ ...deep, x: { y: { z: 1 } } }));
    press("ArrowDown", "ArrowDown", "ArrowLeft");
    expect(shown()[1]).toBe("a{b:{c:{…}}}1key");
    press("*");
    expect(shown().slice(1, 5)).toEqual(["a{1key", "b{1key", "c{1key", "d1"]);
  });
  it("shows a list of like objects as a table, sorted by a head, and goes back", () => {
    const users = [3, 1, 2].map((id) => ({ id, name: `user ${id}` }));
    render(view({ total: 3, users }));
    fireEvent.click(screen.getByRole("button", { name: "Table" }));
    expect(screen.getByText("$.users")).toBeTruthy();
    const names = () => screen.getAllByRole("row").map((row) => row.textContent);
    expect(names()).toEqual(["#idname", "03user 3", "11user 1", "22user 2"]);
    fireEvent.click(screen.getByRole("button", { name: "id" }));
    expect(names().slice(1)).toEqual(["11user 1", "22user 2", "03user 3"]);
    expect(screen.getByRole("columnheader", { name: "id" }).getAttribute("aria-sort")).toBe(
      "ascending",
    );
    fireEvent.click(screen.getByRole("button", { name: "id" }));
    expect(names().slice(1)).toEqual(["03user 3", "22user 2", "11user 1"]);
    fireEvent.click(screen.getByRole("button", { name: "Tree" }));
    expect(screen.getByRole("tree")).toBeTruthy();
  });
  it("keeps room beside a long name for its value, and no more than that takes", () => {
    const name = "n".repeat(40);
    render(view({ [name]: "short", [`${name}2`]: "long ".repeat(20) }));
    const [, short, long] = screen.getAllByRole("treeitem");
    expect(short?.style.minWidth).toContain("48ch");
    expect(long?.style.minWidth).toContain("65ch");
  });
  it("says what dates and bytes are, beside the value as it came", () => {
    render(view({ at: "2026-01-11T09:30:00Z", png: `iVBORw0KGgo${"A".repeat(53)}` }));
    expect(shown()[1]).toContain('"2026-01-11T09:30:00Z"Sun');
    expect(shown()[2]).toContain("base64,image/png,48B");
    press("End");
    expect(screen.getByRole("button", { name: "Download the decoded bytes" })).toBeTruthy();
  });
  it("marks a long text as truncated, shows all of it, and comes back to the same row", () => {
    const long = `first line\n${"word ".repeat(100)}the end`;
    render(view({ a: { b: 1 }, short: "is whole", long }));
    press("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft");
    expect(shown()[1]).toBe("a{b:1}1key");
    expect(shown()[2]).toBe('short"iswhole"');
    expect(shown()[3]).toMatch(/^long"firstline\\nword.*…518BShowall$/);
    press("End", "Enter");
    expect(screen.getByText("$.long")).toBeTruthy();
    expect(screen.getByLabelText("Whole text in Task").textContent).toBe(long);
    fireEvent.click(screen.getByRole("button", { name: "Tree" }));
    expect(document.activeElement).toBe(screen.getByRole("tree"));
    expect(shown()[1]).toBe("a{b:1}1key");
    expect(screen.getByRole("treeitem", { selected: true }).textContent).toContain("long");
    fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(screen.getByLabelText("Whole text in Task").textContent).toBe(long);
  });
  it("offers to show a text that may not fit into its row", () => {
    const lines = "two\nlines";
    render(view({ lines }));
    press("End");
    fireEvent.click(screen.getByRole("button", { name: "Show the whole text" }));
    expect(screen.getByLabelText("Whole text in Task").textContent).toBe(lines);
  });
  it("shows the part of a long text that is searched for", () => {
    const long = `${"a".repeat(400)} needle ${"z".repeat(400)}`;
    render(view([...Array(30).keys(), long].reverse()));
    fireEvent.change(screen.getByLabelText("Search in JSON"), { target: { value: "needle" } });
    expect(screen.getByText("needle").tagName).toBe("MARK");
    expect(shown()[1]).toMatch(/^0…a+needlez+…/);
  });
});
