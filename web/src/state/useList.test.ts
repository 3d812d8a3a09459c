import { act, renderHook, waitFor } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import type { ListView } from "../api/types";
import { aServer } from "../testing/views";
import { command } from "./commands";
import { useList } from "./lists";
import { useInspector } from "./store";

vi.mock("./commands");

const connectedSince = (since: number): void =>
  useInspector.setState({
    servers: new Map([["demo", aServer({ since, capabilities: { tools: {} } })]]),
    link: { state: "open", retryAt: null, attempts: 0, isTaken: false },
  });

const REPLY: ListView = {
  server_id: "demo",
  kind: "tools",
  start: 0,
  items: [],
  fetched: 1,
  next_cursor: null,
  is_complete: true,
  dropped: [],
  change: null,
};
beforeEach(() => {
  vi.mocked(command).mockReset().mockResolvedValue(REPLY);
});

const disconnected = (): void =>
  useInspector.setState({ servers: new Map([["demo", aServer({ state: "DISCONNECTED" })]]) });

it("asks the new connection while the answer about the one before is still on its way", async () => {
  let answer: (reply: ListView) => void = () => undefined;
  const old = new Promise<ListView>((resolve) => {
    answer = resolve;
  });
  vi.mocked(command).mockReturnValueOnce(old).mockResolvedValue(REPLY);
  connectedSince(1);
  const { result } = renderHook(() => useList("demo", "tools"));
  await waitFor(() => expect(command).toHaveBeenCalledTimes(1));
  await act(async () => disconnected());
  await act(async () => connectedSince(2));
  expect(command).toHaveBeenCalledTimes(2);
  await act(async () => answer({ ...REPLY, fetched: 9 }));
  expect(result.current.fetched).toBe(1);
});

it("asks again after a restart of which only the end was seen", async () => {
  connectedSince(1);
  renderHook(() => useList("demo", "tools"));
  await waitFor(() => expect(command).toHaveBeenCalledTimes(1));
  await act(async () => connectedSince(2));
  expect(command).toHaveBeenCalledTimes(2);
});
