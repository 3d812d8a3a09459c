// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { useHostSettings } from "./useHostSettings";

it("keeps the host for all apps, and what was allowed for one app alone", () => {
  const first = renderHook(() => useHostSettings("one", "a"));
  act(() => {
    const [settings, change] = first.result.current;
    change({ ...settings, theme: "dark", allowsPrivate: true, permissions: ["camera"] });
  });
  const allowed = { theme: "dark", allowsPrivate: true, permissions: ["camera"] };
  expect(first.result.current[0]).toMatchObject(allowed);
  expect(renderHook(() => useHostSettings("one", "a")).result.current[0]).toMatchObject(allowed);
  for (const [server, tool] of [
    ["one", "b"],
    ["two", "a"],
  ] as const) {
    const other = renderHook(() => useHostSettings(server, tool));
    const refused = { theme: "dark", allowsPrivate: false, permissions: [] };
    expect(other.result.current[0]).toMatchObject(refused);
  }
  // Nothing of it is there in a later run.
  expect(localStorage.getItem("mcplens.apps.host")).toContain('"allowsPrivate":false');
  expect(localStorage.getItem("mcplens.apps.host")).toContain('"permissions":[]');
});
