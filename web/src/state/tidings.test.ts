import { notifications, notificationsStore } from "@mantine/notifications";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ErrorView, ServerView } from "../api/types";
import { aHello, aServer } from "../testing/views";
import { apply, emptyInspector, useInspector } from "./store";
import { tidingsOf, watchConnections } from "./tidings";

const REFUSED: ErrorView = {
  code: "CONNECTION_REFUSED",
  message: "nobody is there",
  category: "connection",
  retryable: true,
  details: {},
  helpUrl: "/docs/errors/connection-refused",
};
const at = (part: Partial<ServerView>) => new Map([["demo", aServer(part)]]);
const counts = (before: Partial<ServerView>, after: Partial<ServerView>): number[] => {
  const { connected, failed, lost } = tidingsOf(at(before), at(after));
  return [connected.length, failed.length, lost.length];
};

describe("tidings", () => {
  it("tell what passed, once", () => {
    const failed = { state: "DISCONNECTED", error: REFUSED } as const;
    expect(counts({ state: "CONNECTING" }, { state: "CONNECTED" })).toEqual([1, 0, 0]);
    expect(counts({ state: "CONNECTED" }, { state: "CONNECTED" })).toEqual([0, 0, 0]);
    expect(counts({ state: "CONNECTING" }, failed)).toEqual([0, 1, 0]);
    expect(counts({ state: "ERROR", error: REFUSED }, failed)).toEqual([0, 0, 0]);
    expect(counts({ state: "CONNECTED" }, failed)).toEqual([0, 0, 1]);
  });
  it("say nothing between two attempts, nor when they are called off", () => {
    const waits = { state: "ERROR", error: REFUSED, retry: { count: 1, most: 3, at: 9 } } as const;
    const off = { state: "DISCONNECTED", error: REFUSED } as const;
    expect(counts({ state: "CONNECTING" }, waits)).toEqual([0, 0, 0]);
    expect(counts(waits, off)).toEqual([0, 0, 0]);
    const given = { ...off, error: { ...REFUSED, details: { attempts: 4 } } };
    const last = { state: "CONNECTING", error: REFUSED, retry: { count: 3, most: 3, at: null } };
    expect(counts(last as Partial<ServerView>, given)).toEqual([0, 1, 0]);
  });
});

describe("toasts of servers", () => {
  let stop: () => void;
  const names = [..."abcdefgh"];
  const servers = (state: ServerView["state"]) =>
    names.map((server_id) => aServer({ server_id, state }));
  beforeEach(() => {
    vi.useFakeTimers();
    useInspector.setState(emptyInspector());
    stop = watchConnections();
  });
  afterEach(() => {
    stop();
    notifications.clean();
    vi.useRealTimers();
  });
  const shown = () => {
    vi.runAllTimers();
    return notificationsStore.getState().notifications.map(({ message }) => message);
  };
  it("do not come with the page", () => {
    apply(aHello({ servers: servers("CONNECTED") }));
    expect(shown()).toEqual([]);
  });
  it("are one for many", () => {
    apply(aHello({ servers: servers("DISCONNECTED") }));
    for (const value of servers("CONNECTED"))
      apply({
        type: "Changed",
        what: "servers",
        key: value.server_id,
        server_id: value.server_id,
        value,
      });
    expect(shown()).toEqual(["Connected to 8 servers"]);
  });
});
