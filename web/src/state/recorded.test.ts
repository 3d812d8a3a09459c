import { renderHook, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { anEvent } from "../testing/views";
import { useRecorded } from "./recorded";

afterEach(() => vi.unstubAllGlobals());

it("reads a recorded run page by page up to its end", async () => {
  const asked: string[] = [];
  const answer = (url: string): Response => {
    asked.push(url);
    const after = Number(new URL(url, "http://x").searchParams.get("after"));
    const events = [1, 2, 3].map((step) => anEvent({ seq: after + step }));
    return Response.json({ events, has_more: after < 6 });
  };
  vi.stubGlobal("fetch", async (url: string) => answer(url));
  const { result } = renderHook(() => useRecorded("run"));
  await waitFor(() => expect(result.current.isLoading).toBe(false));
  expect(result.current.ring.items.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(asked).toHaveLength(3);
});
