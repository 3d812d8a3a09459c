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
    render={(one) => one}
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

it("moves on from the last key, though an earlier one is drawn only now", () => {
  const { rerender } = render(list(names(9), "n0"));
  const box = screen.getByRole("listbox");
  const press = (): boolean => fireEvent.keyDown(box, { key: "ArrowDown" });
  press();
  press();
  rerender(list(names(9), "n1"));
  press();
  expect(choose).toHaveBeenLastCalledWith("n3", true);
  rerender(list(names(9), "n7"));
  press();
  expect(choose).toHaveBeenLastCalledWith("n8", true);
});
