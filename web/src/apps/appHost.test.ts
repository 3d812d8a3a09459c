import { describe, expect, it, vi } from "vitest";
import { AppHost } from "./AppHost";
import type { HostOptions } from "./appState";
import type { AppMessage } from "./dialect";
import { CAPABILITIES } from "./hostSettings";

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "ui/initialize",
  params: { appInfo: { name: "a" }, appCapabilities: { availableDisplayModes: ["fullscreen"] } },
};
const READY = { jsonrpc: "2.0", method: "ui/notifications/initialized" };

/** A host with an app that a test plays, and all that both said. */
function played(more: Partial<HostOptions> = {}) {
  const posted: AppMessage[] = [];
  const refusals: string[] = [];
  const openLink = vi.fn();
  const saveFile = vi.fn();
  const request = vi.fn(async (text: string) => {
    const { id } = JSON.parse(text);
    return { jsonrpc: "2.0", id, result: { content: [] } } as AppMessage;
  });
  const host = new AppHost({
    capabilities: CAPABILITIES,
    modes: ["inline", "fullscreen"],
    context: { displayMode: "inline", theme: "dark" },
    toolInfo: { tool: { name: "t" } },
    sandbox: { permissions: {} },
    version: "1",
    post: (message) => posted.push(message),
    record: (_, __, refusal) => refusal && refusals.push(refusal),
    request,
    openLink,
    saveFile,
    ...more,
  });
  let id = 10;
  const ask = async (method: string, params: object = {}): Promise<AppMessage | undefined> => {
    const mine = id++;
    host.receive({ jsonrpc: "2.0", id: mine, method, params });
    await Promise.resolve();
    await new Promise((done) => setTimeout(done));
    return posted.find((one) => one.id === mine && one.method === undefined);
  };
  const begin = async (): Promise<void> => {
    host.receive(HELLO);
    await new Promise((done) => setTimeout(done));
    host.receive(READY);
  };
  return { host, posted, refusals, ask, begin, openLink, saveFile, request };
}

const methods = (posted: AppMessage[]) => posted.map(({ method }) => method).filter(Boolean);

describe("the host of an app", () => {
  it("answers ui/initialize with all four members, and says nothing before", async () => {
    const { host, posted, begin } = played();
    host.follow({ arguments: { a: 1 }, result: { content: [] } });
    expect(posted).toEqual([]);
    await begin();
    const answer = posted[0]?.result as Record<string, unknown>;
    expect(Object.keys(answer)).toEqual([
      "protocolVersion",
      "hostInfo",
      "hostCapabilities",
      "hostContext",
    ]);
    expect(answer.hostContext).toMatchObject({ theme: "dark", toolInfo: { tool: { name: "t" } } });
    expect(methods(posted)).toEqual([
      "ui/notifications/tool-input",
      "ui/notifications/tool-result",
    ]);
    host.follow({ result: { content: ["again"] } });
    expect(posted).toHaveLength(3);
  });

  it("tells the app which lists changed, and what it was given", async () => {
    const { host, posted, begin } = played();
    host.listChanged("tools");
    expect(posted).toEqual([]);
    await begin();
    expect(posted[0]?.result).toMatchObject({
      hostCapabilities: { serverTools: { listChanged: true }, sandbox: { permissions: {} } },
    });
    for (const kind of ["tools", "resources", "prompts"]) host.listChanged(kind);
    expect(methods(posted)).toEqual([
      "notifications/tools/list_changed",
      "notifications/resources/list_changed",
      "notifications/prompts/list_changed",
    ]);
  });

  it("refuses calls before the app is initialized", async () => {
    const { host, ask, request, refusals } = played();
    const early = await ask("tools/call", { name: "x" });
    expect(early?.error?.message).toContain("before the app was initialized");
    expect(request).not.toHaveBeenCalled();
    host.receive({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: {} });
    expect(refusals).toHaveLength(2);
    expect((await ask("ping"))?.result).toEqual({});
  });

  it("passes on what is for the server, unless it is not advertised", async () => {
    const able = played();
    await able.begin();
    expect((await able.ask("tools/call", { name: "x" }))?.result).toEqual({ content: [] });
    expect((await able.ask("resources/read", { uri: "x" }))?.result).toBeDefined();
    expect((await able.ask("sampling/createMessage"))?.result).toBeDefined();
    expect(able.request).toHaveBeenCalledTimes(3);
    const unable = played({ capabilities: [] });
    await unable.begin();
    const refused = await unable.ask("tools/call", { name: "x" });
    expect(refused?.error).toEqual({
      code: -32601,
      message: "serverTools is not advertised by this host",
    });
    expect((await unable.ask("sampling/createMessage"))?.error?.code).toBe(-32601);
    expect((await able.ask("ui/unheard-of"))?.error?.message).toBe("ui/unheard-of is not known");
    expect(unable.request).not.toHaveBeenCalled();
  });

  it("bounds what runs and waits at once, and takes no log that it does not advertise", async () => {
    const able = played({ request: () => new Promise(() => {}) });
    await able.begin();
    for (let i = 0; i < 8; i += 1) await able.ask("tools/call", { name: "x" });
    const ninth = await able.ask("tools/call", { name: "x" });
    expect(ninth?.error?.message).toBe("8 requests are running already");
    for (let i = 0; i < 8; i += 1) await able.ask("ui/open-link", { url: "https://a.example" });
    const more = await able.ask("ui/open-link", { url: "https://a.example" });
    expect(more?.error?.message).toBe("too many links and files wait already");
    expect(able.host.state.consents).toHaveLength(8);
    const unable = played({ capabilities: [] });
    await unable.begin();
    unable.host.receive({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x" } });
    expect(unable.host.state.logs).toEqual([]);
    expect(unable.host.state.refusals.at(-1)?.reason).toBe("logging is not advertised");
  });

  it("opens links and saves files only after a click", async () => {
    const { host, ask, begin, openLink, saveFile, posted } = played();
    await begin();
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "no url", 3])
      expect((await ask("ui/open-link", { url }))?.error?.code).toBe(-32602);
    expect(await ask("ui/open-link", { url: "https://example.com" })).toBeUndefined();
    expect(openLink).not.toHaveBeenCalled();
    const [link] = host.state.consents;
    if (link) host.decide(link, true);
    expect(openLink).toHaveBeenCalledWith("https://example.com");
    const file = (uri: string) => [{ type: "resource", resource: { uri, text: "x" } }];
    for (const uri of ["file:///..%2Fx", "file:///a%5Cb", "x/..", "file:///"])
      expect((await ask("ui/download-file", { contents: file(uri) }))?.error?.code).toBe(-32602);
    await ask("ui/download-file", { contents: file("file:///a.txt") });
    const [save] = host.state.consents;
    if (save) host.decide(save, false);
    await new Promise((done) => setTimeout(done));
    expect(saveFile).not.toHaveBeenCalled();
    expect(posted.at(-1)?.error?.message).toBe("the person declined");
  });

  it("shows messages, context and logs, and keeps the last context", async () => {
    const { host, ask, begin } = played();
    await begin();
    await ask("ui/message", { role: "user", content: [{ type: "text", text: "hi" }] });
    expect((await ask("ui/message", { role: "assistant", content: [] }))?.error).toBeDefined();
    await ask("ui/update-model-context", { content: [1] });
    await ask("ui/update-model-context", { structuredContent: { a: 2 } });
    host.receive({ jsonrpc: "2.0", method: "notifications/message", params: { data: "line" } });
    host.receive({
      jsonrpc: "2.0",
      method: "ui/notifications/size-changed",
      params: { height: 300, width: "x" },
    });
    expect(host.state.messages).toEqual([[{ type: "text", text: "hi" }]]);
    expect(host.state.modelContext).toEqual({ structuredContent: { a: 2 } });
    expect(host.state.logs).toEqual([{ data: "line" }]);
    expect(host.state.size).toEqual({ width: undefined, height: 300 });
  });

  it("sets a display mode that both sides have, and says which one is set", async () => {
    const { ask, begin, host, posted } = played();
    await begin();
    const modeAfter = async (mode: string) =>
      (await ask("ui/request-display-mode", { mode }))?.result;
    expect(await modeAfter("pip")).toEqual({ mode: "inline" });
    expect(await modeAfter("fullscreen")).toEqual({ mode: "fullscreen" });
    expect(posted.at(-1)).toMatchObject({
      method: "ui/notifications/host-context-changed",
      params: { displayMode: "fullscreen" },
    });
    expect(host.state.refusals).toHaveLength(1);
  });

  it("asks the app to end and waits for its answer; after that it hears nothing", async () => {
    const { host, posted, begin } = played();
    await begin();
    const ended = host.teardown("done");
    const asked = posted.at(-1);
    expect(asked?.method).toBe("ui/resource-teardown");
    expect(host.state.phase).toBe("closing");
    host.receive({ jsonrpc: "2.0", id: asked?.id, result: {} });
    await ended;
    expect(host.state.phase).toBe("closed");
    host.receive({ jsonrpc: "2.0", id: 99, method: "ping" });
    expect(posted.at(-1)).toBe(asked);
  });

  it("takes what is not a message for what it is", () => {
    const { host, refusals } = played();
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const data of [null, "x", 3, {}, { jsonrpc: "2.0" }, circular, undefined, [1n]])
      host.receive(data);
    host.receive({ jsonrpc: "2.0", id: 5, result: {} });
    host.receive({ jsonrpc: "2.0", id: {}, method: "ping" });
    expect(refusals).toHaveLength(10);
  });

  it("asks an app for its tools and calls them", async () => {
    const { host, posted } = played();
    host.receive({ ...HELLO, params: { appCapabilities: { tools: {} } } });
    await new Promise((done) => setTimeout(done));
    host.receive(READY);
    const listing = posted.at(-1);
    expect(listing?.method).toBe("tools/list");
    const many = Array.from({ length: 60 }, () => ({ name: "count" }));
    host.receive({ jsonrpc: "2.0", id: listing?.id, result: { tools: [3, ...many] } });
    await new Promise((done) => setTimeout(done));
    expect(host.state.tools).toHaveLength(50);
    expect(host.state.tools?.[0]).toEqual({ name: "count" });
    const called = host.callTool("count", {});
    host.receive({ jsonrpc: "2.0", id: posted.at(-1)?.id, error: { code: 1, message: "no" } });
    await expect(called).rejects.toThrow("no");
  });

  it("asks for the tools once at a time, however often they change", async () => {
    const { host, posted, begin } = played();
    await begin();
    const lists = () => posted.filter(({ method }) => method === "tools/list");
    for (let i = 0; i < 20; i += 1)
      host.receive({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect(lists()).toHaveLength(1);
    host.receive({ jsonrpc: "2.0", id: lists()[0]?.id, result: { tools: [] } });
    await new Promise((done) => setTimeout(done));
    expect(lists()).toHaveLength(2);
    host.receive({ jsonrpc: "2.0", id: lists()[1]?.id, result: { tools: [] } });
    await new Promise((done) => setTimeout(done));
    expect(lists()).toHaveLength(2);
  });

  it("forgets a request that is not answered in time", async () => {
    const { host, posted, refusals, begin } = played();
    await begin();
    vi.useFakeTimers();
    const called = expect(host.callTool("slow", {})).rejects.toThrow("no answer to tools/call");
    await vi.advanceTimersByTimeAsync(30_000);
    vi.useRealTimers();
    await called;
    host.receive({ jsonrpc: "2.0", id: posted.at(-1)?.id, result: {} });
    expect(refusals).toEqual(["It answers no request."]);
  });

  it("keeps little of what is large", async () => {
    const { host, ask, begin } = played();
    await begin();
    const text = "x".repeat(200_000);
    await ask("ui/message", { role: "user", content: [{ type: "text", text }] });
    await ask(`ui/${text}`);
    host.receive({ jsonrpc: "2.0", method: "notifications/message", params: { data: text } });
    const { messages, logs, refusals } = host.state;
    expect([messages.length, logs.length, refusals.length]).toEqual([1, 1, 1]);
    expect(JSON.stringify([messages, logs, refusals]).length).toBeLessThan(2_000);
  });

  it("leaves out what is too much, says so, and closes an app that goes on", async () => {
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    const record = vi.fn();
    const { host, begin } = played({ record });
    await begin();
    record.mockClear();
    const flood = (): void => {
      for (let i = 0; i < 1_000; i += 1)
        host.receive({ jsonrpc: "2.0", method: "ui/notifications/size-changed" });
    };
    flood();
    expect(record.mock.calls.length).toBeLessThanOrEqual(600);
    expect(host.state.problem).toContain("were neither answered nor recorded");
    // After a pause it is heard again.
    now += 3_000;
    record.mockClear();
    host.receive({ jsonrpc: "2.0", id: 1, method: "ping" });
    expect(record).toHaveBeenCalled();
    for (let i = 0; i < 12; i += 1) {
      expect(host.state.phase).toBe("initialized");
      flood();
      now += 500;
    }
    expect(host.state.phase).toBe("closed");
    expect(host.state.problem).toMatch(/^The app was closed: it sent more than 200 messages/);
    clock.mockRestore();
  });

  it("takes a few large messages, and not one after the other", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    const record = vi.fn();
    const { host, begin } = played({ record });
    await begin();
    record.mockClear();
    const params = { data: "x".repeat(9_000_000) };
    for (let i = 0; i < 10; i += 1)
      host.receive({ jsonrpc: "2.0", method: "notifications/message", params });
    expect(record).toHaveBeenCalledTimes(4);
    clock.mockRestore();
  });
});
