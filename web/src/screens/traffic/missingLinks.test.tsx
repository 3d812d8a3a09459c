import { MantineProvider } from "@mantine/core";
import { cleanup, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import type { EventView } from "../../api/types";
import { HttpExchange } from "../../events/HttpExchange";
import { EventRing, RingProvider } from "../../state/events";
import { anEvent } from "../../testing/views";
import { LogDetail } from "../logs/LogDetail";
import { EventLinkButtons, EventLinkFacts } from "./EventLinkBar";

afterEach(() => vi.unstubAllGlobals());

const missing = () =>
  Response.json({ code: "INVALID_REQUEST", message: "it is not recorded" }, { status: 400 });

function show(what: ReactNode, events: EventView[], answer: (url: string) => Response): void {
  const ring = new EventRing(100, (run) => run());
  ring.append(events);
  vi.stubGlobal("fetch", async (url: string) => answer(url));
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <RingProvider value={ring}>{what}</RingProvider>
      </MemoryRouter>
    </MantineProvider>,
  );
}

const reply = anEvent({ seq: 8, kind: "FrameReceived", status: "result", exchange_id: 5 });

it("a request that is in no recording is said to be not recorded", async () => {
  const event = { ...reply, request_seq: 3, caused_by_seq: 2 };
  show(<EventLinkButtons event={event} onGo={() => {}} />, [event], missing);
  expect(await screen.findByText("Request not recorded")).toBeTruthy();
  expect(screen.getByText("Cause not recorded")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});

it("a reply of an old recording has no request, and no fetch is made for it", () => {
  show(<EventLinkButtons event={reply} onGo={() => {}} />, [reply], () => {
    throw new Error("nothing is asked for");
  });
  expect(screen.getByText("Request not recorded")).toBeTruthy();
});

it("a request that fell out of the ring is found in the recording", async () => {
  const event = { ...reply, request_seq: 3 };
  const whole = {
    event: anEvent({ seq: 3 }),
    text: "",
    text_is_cut: false,
    masked: [],
    has_exact: true,
  };
  show(<EventLinkButtons event={event} onGo={() => {}} />, [event], () => Response.json(whole));
  const button = await screen.findByRole("button", { name: "Go to the request" });
  await vi.waitFor(() => expect(button.hasAttribute("disabled")).toBe(false));
});

it("an exchange that fell out of the ring is read from the recording", async () => {
  const detail = { url: "http://localhost/mcp", headers: [] };
  const head = anEvent({
    seq: 2,
    kind: "HttpRequestSent",
    method: "POST",
    exchange_id: 5,
    size_bytes: 0,
    detail,
  });
  const asked: string[] = [];
  show(<HttpExchange event={reply} />, [reply], (url) => {
    asked.push(url);
    return Response.json({ events: [anEvent({ seq: 1, exchange_id: 5 }), head], has_more: false });
  });
  expect(await screen.findByText(/POST http:\/\/localhost\/mcp/)).toBeTruthy();
  expect(asked).toEqual(["/api/history/events?run=run&exchange_id=5&limit=5000"]);
});

it("an exchange that is in no recording is said to be not recorded", async () => {
  show(<HttpExchange event={reply} />, [reply], () =>
    Response.json({ events: [], has_more: false }),
  );
  expect(await screen.findByText("HTTP exchange 5 is not recorded")).toBeTruthy();
});

it("the end of an exchange is shown without its beginning", async () => {
  const ended = anEvent({ seq: 9, kind: "HttpExchangeEnded", exchange_id: 5, size_bytes: 0 });
  show(<HttpExchange event={reply} />, [reply, ended], () =>
    Response.json({ events: [], has_more: false }),
  );
  expect(await screen.findByText("The beginning of this exchange is not recorded.")).toBeTruthy();
  expect(screen.getByRole("heading").textContent).toContain("Ended");
});

it("an HTTP event of an old recording is shown alone", () => {
  const old = anEvent({ seq: 9, kind: "HttpExchangeEnded", size_bytes: 0 });
  show(<HttpExchange event={old} />, [old], missing);
  expect(screen.getByText("The rest of this exchange is not recorded.")).toBeTruthy();
});

it("call, purpose and exchange are named, and that a link was inferred", () => {
  const event = { ...reply, call_id: "c12", purpose: "task_polling", is_inferred: true };
  show(<EventLinkFacts event={event} />, [event], missing);
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/?call=c12", "/?exchange=5"]);
  expect(screen.getByText("Purpose: task polling")).toBeTruthy();
  expect(screen.getByText("Inferred: the only call running")).toBeTruthy();
});

it("a log line leads to its request, and says that it was inferred", async () => {
  const request = anEvent({ seq: 3, method: "tools/call", request_id: 7 });
  const line = anEvent({ seq: 4, kind: "LogReceived", request_seq: 3, is_inferred: true });
  show(<LogDetail event={line} onClose={() => {}} />, [request, line], missing);
  expect(screen.getByRole("link", { name: "tools/call with id 7" })).toBeTruthy();
  expect(screen.getByText("inferred: the only call running")).toBeTruthy();
});

it("a log line whose request is not recorded says so, and one without a request nothing", async () => {
  const line = anEvent({ seq: 4, kind: "LogReceived", request_seq: 3, detail: { data: "x" } });
  show(<LogDetail event={line} onClose={() => {}} />, [line], missing);
  expect(await screen.findByText("Request not recorded")).toBeTruthy();
  cleanup();
  const alone = { ...line, request_seq: null };
  show(<LogDetail event={alone} onClose={() => {}} />, [alone], missing);
  await screen.findByText("x");
  expect(screen.queryByText("Request not recorded")).toBeNull();
});
