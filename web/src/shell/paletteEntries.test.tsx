import { MantineProvider } from "@mantine/core";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, Route, Routes } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import type { AuthView, CallView, ServerView, SettingView } from "../api/types";
import { emptyInspector, useInspector } from "../state/store";
import { aCall, aServer } from "../testing/views";
import { formatTime } from "../values/format";
import { matching } from "./Palette";
import { useEntries } from "./paletteEntries";

beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.reject(new Error("no backend")));
});

const at = (path: string) =>
  function Around({ children }: { children: ReactNode }) {
    return (
      <MantineProvider env="test">
        <MemoryRouter initialEntries={[path]}>
          <Routes>
            <Route path="/s/:server/tools" element={children} />
          </Routes>
        </MemoryRouter>
      </MantineProvider>
    );
  };

it("names the server at hand before the others", () => {
  const servers = new Map(
    ["one", "two", "three"].map((server_id) => [server_id, aServer({ server_id })]),
  );
  useInspector.setState({ ...emptyInspector(), servers });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useEntries(page), { wrapper: at("/s/two/tools") });
  const keys = result.current.map((one) => one.key).filter((key) => key.startsWith("server "));
  expect(keys).toEqual(["server two", "server one", "server three"]);
});

const SETTING: SettingView = {
  name: "requestTimeoutSeconds",
  description: "How long an answer may take",
  value: 60,
  default: 60,
  source: "default",
  is_editable: true,
  note: null,
  choices: [],
};

const words: [typed: string, label: string][] = [
  ["raw", "Send a raw JSON-RPC message"],
  ["json-rpc", "Send a raw JSON-RPC message"],
  ["jsonrpc", "Send a raw JSON-RPC message"],
  ["experimental", "Experimental capabilities"],
  ["history", "History of messages"],
  ["yesterday", "History of messages"],
  ["cli", "Copy a call as Python or a command"],
  ["dark", "Use the dark theme"],
  ["night mode", "Use the dark theme"],
  ["oauth", "Auth"],
  ["stderr", "Logs"],
  ["network", "Traffic"],
  ["saved calls", "Collections"],
  ["examples", "Collections"],
  ["folders", "Roots"],
  ["timeout", "Request timeout"],
  ["requestTimeoutSeconds", "Request timeout"],
  ["hotkeys", "Show the keyboard shortcuts"],
  ["har", "Export the trace of all servers"],
  ["delete", "Remove mine"],
  ["paste command", "Add a server"],
];

it.each(words)("finds “%s” under a name that people know", (typed, label) => {
  const auth = {} as AuthView;
  const mine = { server_id: "mine", is_removable: true, is_editable: true, auth };
  const servers = new Map([["mine", aServer(mine)]]);
  const settings = new Map([[SETTING.name, SETTING]]);
  useInspector.setState({ ...emptyInspector(), servers, settings });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useEntries(page), { wrapper: at("/s/mine/tools") });
  expect(matching(result.current, typed).map((one) => one.label)).toContain(label);
});

const entriesWith = (calls: CallView[], server: Partial<ServerView> = {}) => {
  const servers = new Map([["mine", aServer({ server_id: "mine", ...server })]]);
  useInspector.setState({
    ...emptyInspector(),
    servers,
    calls: new Map(calls.map((call) => [call.call_id, { ...call, server_id: "mine" }])),
  });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  return renderHook(() => useEntries(page), { wrapper: at("/s/mine/tools") }).result.current;
};

it("tells earlier calls of one tool apart, in the words of the call panel", () => {
  const started = 1_700_000_000;
  const found = entriesWith([
    aCall({ call_id: "c1", started, request: { name: "add", arguments: { a: 2, b: 3 } } }),
    aCall({ call_id: "c2", started: started + 60, is_error: true, request: { name: "add" } }),
    aCall({ call_id: "c3", kind: "raw", name: "", method: "ping", request: '{"id": 1}' }),
  ]).filter(({ key }) => key.startsWith("call "));
  expect(found.map(({ label, about }) => [label, about])).toEqual([
    ["ping", `{"id": 1} · Sent, no reply · ${formatTime(started, false)} · mine`],
    ["add", `Tool error · ${formatTime(started + 60, false)} · mine`],
    ["add", `a: 2, b: 3 · Done · ${formatTime(started, false)} · mine`],
  ]);
  expect(found.map(({ icon }) => icon)).not.toContain("refresh");
});

it("puts earlier calls after what they were calls of, and finds them by their method", () => {
  const entries = [
    { label: "add", about: "Done", words: "earlier call tools/call", isPast: true },
    { label: "Add up", about: "add · mine" },
  ];
  const labels = (typed: string) => matching([...entries], typed).map((one) => one.label);
  expect(labels("add")).toEqual(["Add up", "add"]);
  expect(labels("tools/call")).toEqual(["add"]);
});

it("offers to copy a call as curl only where one HTTP request can send it", () => {
  const copying = (server: Partial<ServerView>, calls: CallView[] = [aCall()]) =>
    entriesWith(calls, server).find(({ key }) => key === "copy as")?.label;
  const url = "http://127.0.0.1:9/mcp";
  expect(copying({})).toBe("Copy add as Python or a command");
  expect(copying({ url, transport: "sse" })).toBe("Copy add as Python or a command");
  const http = { url, transport: "streamable-http" } as const;
  expect(copying(http)).toBe("Copy add as curl, Python or a command");
  expect(copying(http, [])).toBe("Copy a call as curl, Python or a command");
  const odd = aCall({ headers: { "X-$(odd)": "" } });
  expect(copying(http, [odd])).toBe("Copy add as Python");
});

it("puts a name before other words for a thing", () => {
  const entries = [
    { label: "Traffic", about: "screen", words: "raw" },
    { label: "Send a raw message", about: "" },
    { label: "Raw", about: "" },
  ];
  expect(matching(entries, "raw").map((one) => one.label)).toEqual([
    "Raw",
    "Send a raw message",
    "Traffic",
  ]);
});

it("finds an earlier session by its time, its servers, what was called and the words for it", async () => {
  const run = {
    run_id: "r1",
    title: "web",
    started: 0,
    servers: ["billing"],
    event_count: 7,
    message_count: 3,
    called: ["pay"],
  };
  const runs = [run, { ...run, run_id: "now" }];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ runs, has_more: false })));
  useInspector.setState({ ...emptyInspector(), run_id: "now" });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useEntries(page), { wrapper: at("/s/mine/tools") });
  await waitFor(() => {
    const [found, ...others] = matching(result.current, "yesterday session billing pay");
    expect(found?.to).toBe("/traffic?run=r1");
    expect(others).toEqual([]);
  });
});

it("puts the session of yesterday first, then other sessions, then where all are listed", async () => {
  const day = 24 * 3600;
  const run = { title: "web", servers: ["billing"], event_count: 7, message_count: 3, called: [] };
  const now = Date.now() / 1000;
  const runs = [
    { ...run, run_id: "old", started: now - 5 * day },
    { ...run, run_id: "y", started: now - day },
  ];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ runs, has_more: false })));
  const servers = new Map([["mine", aServer({ server_id: "mine" })]]);
  useInspector.setState({ ...emptyInspector(), run_id: "now", servers });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useEntries(page), { wrapper: at("/s/mine/tools") });
  await waitFor(() =>
    expect(matching(result.current, "yesterday").map((one) => one.to)).toEqual([
      "/traffic?run=y",
      "/traffic?run=old",
      "/s/mine/traffic",
    ]),
  );
});
