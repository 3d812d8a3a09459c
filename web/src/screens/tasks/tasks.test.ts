import { describe, expect, it } from "vitest";
import type { CallView } from "../../api/types";
import { pathToTask } from "../../state/navigation";
import { aServer, aTask } from "../../testing/views";
import {
  cancelObstacle,
  elapsedOf,
  howToGetTasks,
  leftOf,
  listObstacle,
  progressOf,
  stateOf,
} from "./task";

const call = { progress: { progress: 1, total: 4, message: null } } as CallView;

describe("a task", () => {
  it("counts in whole seconds while it runs, and exactly when it is over", () => {
    expect(elapsedOf(aTask({ started: 100 }), 103.9)).toBe("3 s");
    // The server's own clock may be an hour off.
    const over = { created: 3700, started: 100, ended: 101.5, is_over: true };
    expect(elapsedOf(aTask({ ...over, updated: 101.5 }), 999)).toBe("1.50 s");
    // What is heard of it later does not make it longer.
    expect(elapsedOf(aTask({ ...over, updated: 400 }), 999)).toBe("1.50 s");
    expect(leftOf(aTask({ expires: 160 }), 100.5)).toBe("59 s");
    expect(leftOf(aTask({ expires: 160 }), 161)).toBe("over");
    expect(leftOf(aTask(), 100)).toBe("no limit");
    expect(stateOf(aTask({ is_gone: true }))).toBe("gone");
    expect(stateOf(aTask({ is_gone: true, is_over: true, status: "failed" }))).toBe("failed");
  });
  it("has the progress of the call that became it, and never that of the call around it", () => {
    expect(progressOf(aTask(), call)).toEqual({ share: 25, text: "1 of 4" });
    expect(progressOf(aTask({ message: "step 1" }), call).text).toBe("step 1");
    expect(progressOf(aTask({ role: "receiver" }), call)).toEqual({ share: null, text: "" });
  });
  it("is named by its address in either role", () => {
    expect(pathToTask(aTask({ task_id: "a/b" }))).toBe("/s/demo/tasks/a%2Fb");
    expect(pathToTask(aTask({ role: "receiver" }))).toBe("/s/demo/tasks/t1?role=receiver");
  });
});

describe("what a server offers for tasks", () => {
  it("is a list and cancelling only where it declares each", () => {
    const with_ = (tasks: object) => aServer({ capabilities: { tasks } });
    expect(listObstacle(with_({ list: {} }))).toBeNull();
    expect(listObstacle(with_({ cancel: {} }))).toContain("tasks.list");
    expect(cancelObstacle(with_({ cancel: {} }), aTask())).toBeNull();
    expect(cancelObstacle(with_({ list: {} }), aTask())).toContain("tasks.cancel");
    expect(cancelObstacle(with_({}), aTask({ role: "receiver" }))).toBeNull();
    expect(cancelObstacle(with_({ cancel: {} }), aTask({ is_over: true }))).toContain("over");
  });
  it("is said where there are no tasks, and that they cannot be fetched without a list", () => {
    const with_ = (tasks: object) => howToGetTasks(aServer({ capabilities: { tasks } }));
    expect(with_({ list: {} })).toContain("or fetch the tasks");
    expect(with_({})).toContain("does not declare tasks.list, so tasks that it has already cannot");
    expect(howToGetTasks(aServer())).toContain("does not declare tasks.");
  });
  it("has no list in the revision where tasks are an extension", () => {
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const server = aServer({ capabilities: { extensions } });
    expect(listObstacle(server)).toContain("revision");
    expect(cancelObstacle(server, aTask())).toBeNull();
  });
});
