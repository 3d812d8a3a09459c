// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aHello, anEvent, aServer, aTask } from "../testing/views";
import { ring } from "./events";
import { apply, emptyInspector, useInspector } from "./store";

beforeEach(() => {
  ring.restart();
  useInspector.setState(emptyInspector());
});

describe("the store", () => {
  it("begins with the snapshot, and replaces what changes", () => {
    apply(aHello({ servers: [aServer({ state: "CONNECTING" })] }));
    apply({ type: "Changed", what: "servers", key: "demo", server_id: "demo", value: aServer() });
    expect(useInspector.getState().servers.get("demo")?.state).toBe("CONNECTED");
    apply({ type: "Changed", what: "servers", key: "demo", server_id: "demo", value: null });
    expect(useInspector.getState().servers.size).toBe(0);
  });
  it("keeps the built-in server behind those that are added", () => {
    const added = aServer({
      server_id: "mine",
      source: { kind: "mcplens", path: "/home/me/mcp.json", scope: "user" },
    });
    const names = () => [...useInspector.getState().servers.keys()];
    apply(aHello({ servers: [aServer()] }));
    apply({ type: "Changed", what: "servers", key: "mine", server_id: "mine", value: added });
    expect(names()).toEqual(["mine", "demo"]);
    apply({ type: "Changed", what: "servers", key: "mine", server_id: "mine", value: added });
    expect(names()).toEqual(["mine", "demo"]);
  });
  it("knows from when on nothing is recorded", () => {
    apply(aHello());
    const value = { problem: "no space left" };
    apply({ type: "Changed", what: "recording", key: "", server_id: "", value });
    expect(useInspector.getState().recording_problem).toBe("no space left");
  });
  it("puts the newest summary of a list into its server", () => {
    apply(aHello({ servers: [aServer()] }));
    const summary = {
      kind: "tools" as const,
      count: 3,
      fetched: 1,
      is_changed: false,
      error: null,
    };
    apply({ type: "Changed", what: "lists", key: "demo/tools", server_id: "demo", value: summary });
    apply({
      type: "Changed",
      what: "lists",
      key: "demo/tools",
      server_id: "demo",
      value: { ...summary, count: 4 },
    });
    expect(useInspector.getState().servers.get("demo")?.lists).toEqual([{ ...summary, count: 4 }]);
  });
  it("tells tasks apart by server and by role, whatever ids they choose", () => {
    const tasks = [aTask(), aTask({ server_id: "other" }), aTask({ role: "receiver" })];
    apply(aHello({ tasks: tasks.slice(0, 2) }));
    const change = { type: "Changed" as const, what: "tasks" as const, server_id: "demo" };
    apply({ ...change, key: "demo/receiver/t1", value: tasks[2] });
    expect([...useInspector.getState().tasks.values()]).toEqual(tasks);
    apply({ ...change, key: "demo/client/t1", value: aTask({ status: "completed" }) });
    apply({ ...change, key: "demo/receiver/t1", value: null });
    const left = [...useInspector.getState().tasks.values()];
    expect(left.map((one) => [one.server_id, one.role, one.status])).toEqual([
      ["demo", "client", "completed"],
      ["other", "client", "working"],
    ]);
  });
  it("keeps its events when it resumes, and lets go of them when another run begins", () => {
    apply(aHello());
    apply({ type: "Events", first_seq: 1, last_seq: 1, events: [anEvent({ seq: 1 })] });
    apply(aHello({ is_resumed: true }));
    expect(ring.items).toHaveLength(1);
    expect(useInspector.getState().earlier_run_id).toBeNull();
    apply(aHello({ run_id: "other" }));
    expect(ring.items).toHaveLength(0);
    expect(useInspector.getState().earlier_run_id).toBe("run");
    apply(aHello({ run_id: "other", is_resumed: true }));
    expect(useInspector.getState().earlier_run_id).toBe("run");
  });
  it("takes in the first question at once, and a rush of them together", () => {
    vi.useFakeTimers();
    let changes = 0;
    const stop = useInspector.subscribe(() => {
      changes += 1;
    });
    for (let at = 0; at < 1000; at += 1)
      apply({
        type: "Changed",
        what: "questions",
        key: `q${at}`,
        server_id: "demo",
        value: { question_id: `q${at}` },
      } as never);
    expect([...useInspector.getState().questions.keys()]).toEqual(["q0"]);
    vi.runAllTimers();
    expect(useInspector.getState().questions.size).toBe(1000);
    expect(changes).toBe(2);
    stop();
    vi.useRealTimers();
  });
});
