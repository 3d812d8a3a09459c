// @vitest-environment happy-dom
import { renderHook, waitFor } from "@testing-library/react";
import { act } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { anEvent, aRunInfo } from "../testing/views";
import { type RecordedRun, useRecordedRun } from "./recordedRun";
import { useInspector } from "./store";

afterEach(() => vi.unstubAllGlobals());

/** A recording of nine events, three a page. */
function record(): string[] {
  const asked: string[] = [];
  const answer = (url: string): Response => {
    asked.push(url);
    const after = Number(new URL(url, "http://x").searchParams.get("after"));
    const events = [1, 2, 3].map((step) => anEvent({ seq: after + step }));
    return Response.json({ events, has_more: after < 6 });
  };
  vi.stubGlobal("fetch", async (url: string) => answer(url));
  return asked;
}

const seqs = ({ ring }: RecordedRun): number[] => ring.items.map((event) => event.seq);

it("reads a recorded run page by page up to its end", async () => {
  const asked = record();
  const { result } = renderHook(() => useRecordedRun("run"));
  await waitFor(() => expect(result.current.isLoading).toBe(false));
  expect(seqs(result.current)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(result.current.isCut).toBe(false);
  expect(asked).toHaveLength(3);
});

it("tells that a run goes on behind what there is room for", async () => {
  record();
  const { result } = renderHook(() => useRecordedRun("run", 6));
  await waitFor(() => expect(result.current.isCut).toBe(true));
  expect(seqs(result.current)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(result.current.isLoading).toBe(false);
});

it("is read again when mcplens, which did not answer, is back", async () => {
  const link = { retryAt: null, attempts: 0, isTaken: false };
  useInspector.setState({ link: { ...link, state: "waiting" } });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
  const { result } = renderHook(() => useRecordedRun("run"));
  await waitFor(() => expect(result.current.problem).toBe("mcplens is not responding."));
  record();
  act(() => useInspector.setState({ link: { ...link, state: "open" } }));
  await waitFor(() => expect(seqs(result.current)).toHaveLength(9));
  expect(result.current.problem).toBeNull();
});

it("follows a run that another process still records, as the backend tells of it", async () => {
  let written = 3;
  vi.stubGlobal("fetch", async (url: string) => {
    const after = Number(new URL(url, "http://x").searchParams.get("after"));
    const events = Array.from({ length: written - after }, (_, at) =>
      anEvent({ seq: after + at + 1 }),
    );
    return Response.json({ events, has_more: false });
  });
  const { result } = renderHook(() => useRecordedRun("run"));
  await waitFor(() => expect(seqs(result.current)).toEqual([1, 2, 3]));
  const tell = (last_seq: number): void => {
    written = last_seq;
    const info = aRunInfo({ run_id: "run", last_seq });
    act(() => useInspector.setState({ runs: new Map([["run", info]]) }));
  };
  tell(5);
  await waitFor(() => expect(seqs(result.current)).toEqual([1, 2, 3, 4, 5]));
  tell(6);
  await waitFor(() => expect(seqs(result.current)).toEqual([1, 2, 3, 4, 5, 6]));
});
