// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { itemOf } from "../state/items";
import { useListFilter } from "./useListFilter";

const items = ["crash", "crash-late", "nested"].map((name, at) =>
  itemOf("tools", { value: { name }, problem: null } as never, at),
);
const opening = (opened: string | null, among = items) =>
  renderHook((props) => useListFilter("tools.one", props.opened, props.among), {
    initialProps: { opened, among },
  });

beforeEach(() => void sessionStorage.clear());

it("is dropped when something is opened that it hides", () => {
  const { result, rerender } = opening(null);
  act(() => result.current[1]("crash"));
  rerender({ opened: "crash-late", among: items });
  expect(result.current[0]).toBe("crash");
  rerender({ opened: "nested", among: items });
  expect(result.current[0]).toBe("");
});

it("may hide what was open when it was typed, on return to it, too", () => {
  const first = opening("nested");
  act(() => first.result.current[1]("crash"));
  expect(first.result.current[0]).toBe("crash");
  first.unmount();
  expect(opening("nested").result.current[0]).toBe("crash");
});

it("is dropped on return to something else, as soon as the list is there", () => {
  const first = opening("crash");
  act(() => first.result.current[1]("crash"));
  first.unmount();
  const { result, rerender } = opening("nested", []);
  expect(result.current[0]).toBe("crash");
  rerender({ opened: "nested", among: items });
  expect(result.current[0]).toBe("");
});
