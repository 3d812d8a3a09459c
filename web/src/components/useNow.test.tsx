import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { useNow } from "./useNow";

afterEach(() => void vi.useRealTimers());

it("is one clock for all that count, and stops with the last of them", () => {
  vi.useFakeTimers();
  const first = renderHook(() => useNow(true));
  const second = renderHook(() => useNow(true));
  const still = renderHook(() => useNow(false));
  const before = first.result.current;
  expect(vi.getTimerCount()).toBe(1);
  act(() => void vi.advanceTimersByTime(3_000));
  expect(first.result.current).toBe(before + 3);
  expect(second.result.current).toBe(before + 3);
  expect(still.result.current).toBe(before);
  first.unmount();
  second.unmount();
  expect(vi.getTimerCount()).toBe(0);
  // Who begins later does not see the moment at which it stopped.
  vi.advanceTimersByTime(60_000);
  expect(renderHook(() => useNow(true)).result.current).toBe(before + 63);
});
