import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { EventView } from "../../api/types";
import { EventRing, RingProvider } from "../../state/events";
import { anEvent } from "../../testing/views";
import { EventDetail } from "./EventDetail";

beforeEach(() => {
  const whole = { event: {}, text: "{}", text_is_cut: false, masked: [], has_exact: true };
  vi.stubGlobal("fetch", async () => Response.json(whole));
});
afterEach(() => vi.unstubAllGlobals());

const asked = anEvent({
  seq: 1,
  method: "tools/call",
  status: "request",
  head: '{"method":"tools/call","params":{"name":"add"}}',
});
const failed = { seq: 2, kind: "FrameReceived", status: "error", method: "tools/call" };

function draw(event: EventView) {
  const ring = new EventRing(100, (run) => run());
  ring.append([asked, anEvent({ ...failed, request_seq: 1 })]);
  const nothing = (): void => undefined;
  const drawn = (shown: EventView) => (
    <MantineProvider env="test">
      <MemoryRouter>
        <RingProvider value={ring}>
          <EventDetail
            event={shown}
            onCompare={nothing}
            onGo={nothing}
            onClose={nothing}
            onAll={nothing}
          />
        </RingProvider>
      </MemoryRouter>
    </MantineProvider>
  );
  const { rerender } = render(drawn(event));
  return (next: EventView): void => rerender(drawn(next));
}

const isOn = (name: string): string | null | undefined =>
  screen.queryByRole("tab", { name })?.getAttribute("aria-selected");

it("keeps the tab that was chosen for a message, and opens others at their own", async () => {
  const go = draw(asked);
  expect(isOn("Message")).toBe("true");
  await userEvent.click(screen.getByRole("tab", { name: "Raw" }));
  go(anEvent({ seq: 3, method: "ping", status: "request" }));
  expect(isOn("Raw")).toBe("true");
  go(anEvent({ seq: 4, kind: "StateChanged", size_bytes: 0 }));
  expect(isOn("Event")).toBe("true");
  await userEvent.click(screen.getByRole("tab", { name: "Event" }));
  go(anEvent({ seq: 5, method: "ping", status: "request" }));
  expect(isOn("Raw")).toBe("true");
});

it("names the tool, and how its call ended apart from that, where it is never cut", () => {
  draw(anEvent({ ...failed, request_seq: 1 }));
  const title = screen.getByTitle("tools/call add · error");
  expect([...title.children].map((part) => part.textContent)).toEqual([
    "tools/call add",
    "· error",
  ]);
});
