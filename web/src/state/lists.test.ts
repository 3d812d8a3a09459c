// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { ItemView, ListKind, ListSummary, ListView } from "../api/types";
import { listSizeLabel } from "../catalog/ListStatus";
import { callObstacle, hintsOf, taskObstacle } from "../screens/tools/toolHints";
import { aServer } from "../testing/views";
import { itemOf, itemTitle, matchingItems, type Prompt, type Resource, type Tool } from "./items";
import { type LoadedList, mergeReply } from "./lists";

const ODD: unknown[] = [42, null, [1, "x"], { a: 1 }, true, ""];
const GOOD: Record<ListKind, Record<string, unknown>> = {
  tools: {
    name: "add",
    title: "Add",
    description: "Adds.\nAnd more.",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { title: "Adder", readOnlyHint: true },
    execution: { taskSupport: "optional" },
    icons: [{ src: "x" }],
    tags: ["a"],
    _meta: {},
  },
  resources: {
    uri: "a://b",
    name: "b",
    title: "B",
    description: "A thing",
    mimeType: "text/plain",
    size: 3,
    annotations: { priority: 1 },
    icons: [],
  },
  resource_templates: { uriTemplate: "a://{b}", name: "b", title: "B", annotations: {} },
  prompts: {
    name: "greet",
    title: "Greet",
    description: "Greets",
    arguments: [{ name: "who", title: "Who", description: "Whom", required: true }],
    icons: [],
  },
};
const view = (value: unknown, problem: string | null = null): ItemView => ({ value, problem });
const TEXTS = ["name", "title", "description", "uri", "uriTemplate", "mimeType"] as const;

const cases = (Object.keys(GOOD) as ListKind[]).flatMap((kind) =>
  Object.keys(GOOD[kind]).flatMap((field) => ODD.map((odd) => ({ kind, field, odd }))),
);

describe("an item that a server lists", () => {
  it.each(cases)("of $kind can be shown with $field = $odd", ({ kind, field, odd }) => {
    const item = itemOf(kind, view({ ...GOOD[kind], [field]: odd }), 4);
    const value = item.value as Tool & Resource;
    for (const name of TEXTS) expect(["string", "undefined"]).toContain(typeof value[name]);
    expect(item.key).not.toBe("");
    expect(itemTitle(value, item.key)).not.toBe("");
    expect(hintsOf(value).every((hint) => typeof hint.label === "string")).toBe(true);
    if (kind === "prompts")
      expect(Array.isArray((value as unknown as Prompt).arguments)).toBe(true);
  });
  it.each([42, null, "not even an object", [], true])("may be %j", (value) => {
    for (const kind of Object.keys(GOOD) as ListKind[]) {
      const item = itemOf(kind, view(value, "no object"), 4);
      expect(item).toMatchObject({ key: "#5", problem: "no object", listed: value });
      expect(itemTitle(item.value as Tool, item.key)).toBe("(no name) #5");
    }
  });
  it("is flagged with what is wrong, though the backend saw nothing", () => {
    const listed = { ...GOOD.tools, annotations: { title: 3, readOnlyHint: "yes" } };
    expect(itemOf("tools", view(listed), 0).problem).toBe(
      "annotations.title is not a string; annotations.readOnlyHint is not true or false.",
    );
    expect(itemOf("tools", view(GOOD.tools), 0).problem).toBeNull();
    const prompt = { name: "p", arguments: [7, { name: "a", required: "no" }] };
    expect(itemOf("prompts", view(prompt), 0)).toMatchObject({
      problem: "arguments[0] has no name; arguments[1].required is not true or false.",
      value: { arguments: [{ name: "a", required: false }] },
    });
  });
  it("is found by all words of a search, whatever their case", () => {
    const items = [itemOf("tools", view(GOOD.tools), 0), itemOf("tools", view({ name: "x" }), 1)];
    expect(matchingItems(items, "ADDS more").map((item) => item.key)).toEqual(["add"]);
    expect(matchingItems(items, " ")).toBe(items);
  });
});

describe("a list that comes in parts", () => {
  const none: LoadedList = {
    items: [],
    count: 0,
    fetched: 0,
    change: null,
    isLoading: true,
    error: null,
  };
  const reply = (part: Partial<ListView>): ListView => ({
    server_id: "s",
    kind: "tools",
    start: 0,
    items: [],
    fetched: 5,
    next_cursor: null,
    is_complete: false,
    dropped: [],
    change: null,
    ...part,
  });
  const named = (...names: string[]): ItemView[] => names.map((name) => view({ name }));
  const keys = (held: Partial<LoadedList>): string[] => (held.items ?? []).map((item) => item.key);

  it("grows, with what may not be offered at its end", () => {
    const dropped = named("bad");
    const first = { ...none, ...mergeReply(none, reply({ items: named("a", "b"), dropped })) };
    expect(keys(first)).toEqual(["a", "b", "bad"]);
    const second = {
      ...first,
      ...mergeReply(first, reply({ start: 2, items: named("c"), dropped })),
    };
    expect(keys(second)).toEqual(["a", "b", "c", "bad"]);
    expect(second.count).toBe(3);
    expect(mergeReply(second, reply({ start: 3, dropped }))).toEqual({});
  });
  it("has a row for each item, though two have one name", () => {
    const first = { ...none, ...mergeReply(none, reply({ items: named("a", "a", "a #2") })) };
    expect(keys(first)).toEqual(["a", "a #2", "a #2 #2"]);
    expect(first.items.map((item) => item.problem)).toEqual([
      "another tool has this name.",
      "another tool has this name.",
      "another tool has this name.",
    ]);
    const second = mergeReply(first, reply({ start: 3, items: named("a", "b") }));
    expect(keys(second).slice(3)).toEqual(["a #3", "b"]);
    const uris = [view({ uri: "x://a", name: "a" }), view({ uri: "x://a", name: "b" })];
    const resources = mergeReply(none, reply({ kind: "resources", items: uris }));
    expect(resources.items?.[1]).toMatchObject({ key: "x://a #2", value: { uri: "x://a" } });
    expect(resources.items?.[1]?.problem).toBe("another resource has this URI.");
    const late = { ...none, ...mergeReply(none, reply({ items: named("c", "d") })) };
    const marked = mergeReply(late, reply({ start: 2, items: named("c") }));
    expect(marked.items?.map((item) => item.problem === null)).toEqual([false, true, false]);
  });
  it("begins anew with another fetch", () => {
    const first = { ...none, ...mergeReply(none, reply({ items: named("a", "b") })) };
    const again = mergeReply(first, reply({ items: named("z"), fetched: 6 }));
    expect(keys(again)).toEqual(["z"]);
    expect(again.fetched).toBe(6);
  });
});

describe("how a list stands", () => {
  const summary: ListSummary = {
    kind: "tools",
    count: 2,
    fetched: 5,
    is_changed: false,
    error: null,
    pages: 1,
    next_cursor: null,
    asked: null,
    awaited: 2,
    has_apps: false,
  };
  const items = ["a", "b"].map((name, index) => itemOf("tools", view({ name }), index));
  const held: LoadedList = {
    items,
    count: 2,
    fetched: 5,
    change: null,
    isLoading: false,
    error: null,
  };
  const list = { ...held, isThere: true };
  const words = (part: Partial<ListSummary>, shown = 2): string =>
    listSizeLabel("tools", { ...list, summary: { ...summary, ...part } }, shown);
  it("says how many in how many pages if there are several, and whether there is more", () => {
    expect(words({})).toBe("2 tools");
    expect(words({ next_cursor: "x" })).toBe("2 tools, more available");
    expect(words({ count: 5000, pages: 10 }, 1)).toBe("1 of 5,000 tools in 10 pages");
    expect(words({ fetched: 0 })).toBe("");
  });
});

describe("running as a task", () => {
  const tasks = { tasks: { requests: { tools: { call: {} } } } };
  const tool: Tool = { name: "t", execution: { taskSupport: "required" } };
  it("needs a server that declared it", () => {
    expect(taskObstacle(aServer({ capabilities: tasks }))).toBeNull();
    expect(taskObstacle(aServer({ capabilities: { tasks: {} } }))).toContain("did not declare");
    expect(taskObstacle(aServer({ protocol_version: "2026-07-28" }))).toContain("server decides");
  });
  it("bars only the tools that run in no other way", () => {
    expect(callObstacle(aServer(), tool)).toContain("did not declare");
    expect(callObstacle(aServer({ capabilities: tasks }), tool)).toBeNull();
    expect(callObstacle(aServer(), { name: "t" })).toBeNull();
  });
});
