import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { VirtualList } from "./VirtualList";

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`);
const choose = vi.fn();
const list = (items: string[], chosen: string | null) => (
  <VirtualList
    label="Names"
    items={items}
    keyOf={(one) => one}
    chosen={chosen}
    onChoose={choose}
    draw={(one) => one}
    rowHeight={20}
  />
);

beforeEach(() => void choose.mockReset());

it("tells a step by keyboard from a choice", () => {
  render(list(names(5), "n1"));
  const box = screen.getByRole("listbox");
  fireEvent.keyDown(box, { key: "ArrowDown" });
  expect(choose).toHaveBeenLastCalledWith("n2", true);
  fireEvent.keyDown(box, { key: "Enter" });
  expect(choose).toHaveBeenLastCalledWith("n2", false);
});
