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
  vi.mocked(command).mockResolvedValue(REPLY);
});

it("asks again after a restart of which only the end was seen", async () => {
  connectedSince(1);
  renderHook(() => useList("demo", "tools"));
  await waitFor(() => expect(command).toHaveBeenCalledTimes(1));
  await act(async () => connectedSince(2));
  expect(command).toHaveBeenCalledTimes(2);
});
