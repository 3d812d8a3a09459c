import { renderHook } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import type { ListChangeView } from "../api/types";
import type { LoadedList } from "../state/lists";
import { useChangeMarks } from "./ChangeMark";

const names = (...found: string[]) => ({ count: found.length, names: found });
const changeAt = (at: number): ListChangeView => ({
  at,
  added: names("fresh", "other"),
  changed: names("odd"),
  removed: names("gone"),
});
const held = (part: Partial<LoadedList>): LoadedList => ({
  items: [],
  count: 0,
  fetched: 5,
  change: changeAt(5),
  isLoading: false,
  error: null,
  ...part,
});
const looking = (list: LoadedList, chosen: string | null = null) =>
  renderHook((props) => [...useChangeMarks("one", "tools", props.list, props.chosen)], {
    initialProps: { list, chosen },
  });

beforeEach(() => void sessionStorage.clear());

it("has what is new and what changed, until it is opened, also after a reload", () => {
  const { result, rerender, unmount } = looking(held({}));
  expect(result.current).toEqual([
    ["fresh", "new"],
    ["other", "new"],
    ["odd", "changed"],
  ]);
  rerender({ list: held({}), chosen: "other" });
  rerender({ list: held({}), chosen: "odd" });
  rerender({ list: held({}), chosen: null });
  expect(result.current).toEqual([["fresh", "new"]]);
  unmount();
  expect(looking(held({})).result.current).toEqual([["fresh", "new"]]);
});

it("keeps the mark of what changes while it is open, and begins anew with the next change", () => {
  const { result, rerender } = looking(held({ change: null }), "odd");
  expect(result.current).toEqual([]);
  rerender({ list: held({ change: changeAt(6) }), chosen: "odd" });
  expect(result.current.at(-1)).toEqual(["odd", "changed"]);
  rerender({ list: held({ change: changeAt(6) }), chosen: "fresh" });
  expect(result.current.map(([key]) => key)).toEqual(["other", "odd"]);
  rerender({ list: held({ fetched: 7, change: changeAt(6) }), chosen: "fresh" });
  expect(result.current.map(([key]) => key)).toEqual(["other", "odd"]);
  rerender({ list: held({ fetched: 8, change: changeAt(8) }), chosen: "fresh" });
  expect(result.current.map(([key]) => key)).toEqual(["fresh", "other", "odd"]);
  rerender({ list: held({ fetched: 9, change: null }), chosen: "fresh" });
  expect(result.current).toEqual([]);
});
