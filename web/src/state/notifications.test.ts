// @vitest-environment happy-dom
import { notifications, notificationsStore } from "@mantine/notifications";
import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallView, ErrorView, ServerView } from "../api/types";
import { aHello, aServer } from "../testing/views";
import {
  connectionChanges,
  notifyConnections,
  notifyFailedCalls,
  useMuteCall,
} from "./notifications";
import { apply, emptyInspector, useInspector } from "./store";

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
  const { connected, failed, lost } = connectionChanges(at(before), at(after));
  return [connected.length, failed.length, lost.length];
};

describe("notifications", () => {
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
    notifications.clean();
    useInspector.setState(emptyInspector());
    stop = notifyConnections();
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
  it("tell a server that came back after it failed from a new one", () => {
    const turn = (state: ServerView["state"]): void =>
      apply({
        type: "Changed",
        what: "servers",
        key: "a",
        server_id: "a",
        value: aServer({ server_id: "a", state }),
      });
    apply(aHello({ servers: servers("CONNECTED") }));
    for (const state of ["ERROR", "CONNECTING", "CONNECTED"] as const) turn(state);
    expect(shown()).toEqual(["Reconnected to a"]);
    for (const state of ["DISCONNECTING", "DISCONNECTED", "CONNECTED"] as const) turn(state);
    expect(shown()).toEqual(["Reconnected to a", "Connected to a"]);
  });
});

describe("toasts of calls", () => {
  let stop: () => void;
  const aCall = (part: Partial<CallView>): CallView =>
    ({
      call_id: "c1",
      server_id: "demo",
      kind: "tool",
      method: "tools/call",
      name: "add",
      status: "in_progress",
      is_error: false,
      error: null,
      ...part,
    }) as CallView;
  const change = (value: CallView): void =>
    apply({ type: "Changed", what: "calls", key: value.call_id, server_id: "demo", value });
  const failed = { status: "error", error: REFUSED } as const;
  beforeEach(() => {
    vi.useFakeTimers();
    useInspector.setState(emptyInspector());
    stop = notifyFailedCalls(() => {});
  });
  afterEach(() => {
    stop();
    notifications.clean();
    vi.useRealTimers();
  });
  const shown = () => {
    vi.advanceTimersByTime(300);
    return notificationsStore.getState().notifications;
  };
  it("tell of a call that fails out of sight, once", () => {
    apply(aHello({ calls: [aCall({}), aCall({ call_id: "old", ...failed })] }));
    expect(shown()).toEqual([]);
    change(aCall(failed));
    change(aCall({ ...failed, elapsed_s: 2 }));
    change(aCall({ call_id: "c2", status: "completed", is_error: true }));
    change(aCall({ call_id: "c3", status: "cancelled" }));
    expect(shown().map(({ id }) => id)).toEqual(["call c1", "call c2"]);
  });
  it("say nothing of what is on the screen", () => {
    apply(aHello({ calls: [aCall({})] }));
    const { unmount } = renderHook(() => useMuteCall("c1"));
    change(aCall(failed));
    expect(shown()).toEqual([]);
    unmount();
    change(aCall({}));
    change(aCall(failed));
    expect(shown()).toHaveLength(1);
  });
  it("say nothing of what was on the screen, however briefly", () => {
    apply(aHello({ calls: [aCall({})] }));
    const before = renderHook(() => useMuteCall("c1"));
    change(aCall(failed));
    before.unmount(); // as when Run is pressed again at once
    expect(shown()).toEqual([]);
    change(aCall({ call_id: "c2", ...failed }));
    renderHook(() => useMuteCall("c2")).unmount();
    expect(shown()).toEqual([]);
  });
  it("are one for many", () => {
    apply(aHello({}));
    for (let at = 0; at < 50; at += 1) change(aCall({ call_id: `c${at}`, ...failed }));
    expect(shown().map(({ message }) => message)).toEqual(["50 calls failed"]);
  });
});
