// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { useDraft, writeDraft } from "./browserStorage";

it("a draft that is filled in from elsewhere is seen by who shows it", () => {
  const { result } = renderHook(() => [useDraft("one", 0)[0], useDraft("other", 0)[0]]);
  act(() => writeDraft("one", 7));
  expect(result.current).toEqual([7, 0]);
  act(() => writeDraft("one", undefined));
  expect(result.current).toEqual([0, 0]);
});
