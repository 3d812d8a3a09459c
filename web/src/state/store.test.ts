import { beforeEach, describe, expect, it } from "vitest";
import { aHello, anEvent, aServer } from "../testing/views";
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
});
