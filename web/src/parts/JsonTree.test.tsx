import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseExactly } from "./exactJson";
import { JsonTree } from "./JsonTree";

// A test's page is not laid out: all rows are on its screen.
vi.mock("@tanstack/react-virtual", () => ({
  useVirtualizer: ({ count }: { count: number }) => ({
    getVirtualItems: () => Array.from({ length: count }, (_, index) => ({ index, start: 0 })),
    getTotalSize: () => 0,
    scrollToIndex: () => {},
  }),
}));

const shown = (): (string | null)[] =>
  screen.getAllByRole("treeitem").map((row) => row.textContent?.replace(/\s/g, "") ?? null);
const view = (value: unknown, label = "Task") => (
  <MantineProvider env="test">
    <JsonTree value={value} label={label} />
  </MantineProvider>
);
const press = (...keys: string[]): void => {
  for (const key of keys) fireEvent.keyDown(screen.getByRole("tree"), { key });
};

describe("a JSON tree", () => {
  const written = vi.fn(async (_: string) => {});
  beforeEach(() => {
    written.mockClear();
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: written },
      configurable: true,
    });
  });
  it("keeps what was closed when its value comes anew, and opens another one afresh", () => {
    const { rerender } = render(view({ a: { b: 1 }, at: 1 }));
    press("ArrowDown", "ArrowDown", "ArrowLeft");
    expect(shown()).toEqual(["{2", "a{…}1", "at1"]);
    rerender(view({ a: { b: 1 }, at: 2 }));
    expect(shown()).toEqual(["{2", "a{…}1", "at2"]);
    rerender(view({ a: { b: 1 }, at: 2 }, "Other"));
    expect(shown()).toEqual(["{2", "a{1", "b1", "at2"]);
  });
  it("tells which row is chosen, and copies it by a key", () => {
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
  });
});
