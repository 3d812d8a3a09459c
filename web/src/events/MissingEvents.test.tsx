import { MantineProvider } from "@mantine/core";
import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { EventRing, RingProvider } from "../state/events";
import { anEvent } from "../testing/views";
import { MissingEvents, RecordedRunStatus } from "./MissingEvents";

afterEach(() => vi.unstubAllGlobals());

const now = (run: () => void): void => run();
const NO_BACKFILL = { isLoading: false, problem: null };

function ringOf(capacity: number, ...seqs: number[]): EventRing {
  const ring = new EventRing(capacity, now);
  ring.append(seqs.map((seq) => anEvent({ seq })));
  return ring;
}

const renderRing = (ring: EventRing) =>
  render(
    <MantineProvider env="test">
      <RingProvider value={ring}>
        <MissingEvents runId="run" backfill={NO_BACKFILL} />
      </RingProvider>
    </MantineProvider>,
  );

it("says how many of the oldest events a full page does not hold", () => {
  const ring = ringOf(3, 1, 2, 3);
  renderRing(ring);
  expect(screen.queryByText(/not listed/)).toBeNull();
  // Some more than it is to hold are let in before the oldest go.
  act(() => ring.append(Array.from({ length: 6000 }, (_, at) => anEvent({ seq: at + 4 }))));
  expect(
    screen.getByText("The 6,000 oldest events are not listed; an export has them."),
  ).toBeDefined();
});

it("says that only the first events of a long session are listed", () => {
  const recorded = { ring: ringOf(5, 1, 2), isLoading: false, problem: null, isCut: true };
  render(<RecordedRunStatus recorded={recorded} />);
  expect(screen.getByRole("status").textContent).toBe(
    "Only the first 2 events of this session are listed; an export has all of them.",
  );
});

/** A ring that lacks the events 2 to 4, and the addresses that are asked for them. */
function ringWithGap(): { ring: EventRing; asked: string[] } {
  const ring = ringOf(100, 1);
  ring.miss({ first_seq: 2, last_seq: 4 });
  ring.append([anEvent({ seq: 5 })]);
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return Response.json({ events: [2, 3, 4].map((seq) => anEvent({ seq })), has_more: false });
  });
  return { ring, asked };
}

it("loads what a slow page was not sent as soon as nothing more comes, once for all viewers", async () => {
  vi.useFakeTimers();
  const { ring, asked } = ringWithGap();
  renderRing(ring);
  renderRing(ring);
  await act(() => vi.advanceTimersByTimeAsync(900));
  act(() => ring.append([anEvent({ seq: 6 })]));
  await act(() => vi.advanceTimersByTimeAsync(900));
  expect(asked).toHaveLength(0);
  await act(() => vi.advanceTimersByTimeAsync(100));
  vi.useRealTimers();
  await waitFor(() => expect(ring.gaps).toEqual([]));
  expect(ring.items.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(asked).toHaveLength(1);
});

it("loads what a slow page was not sent at a click", async () => {
  const { ring, asked } = ringWithGap();
  renderRing(ring);
  expect(screen.getByRole("status").textContent).toMatch("3 events were not sent to this page");
  await userEvent.click(screen.getByRole("button", { name: "Load them from the recording" }));
  expect(ring.items.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5]);
  expect(screen.queryByText(/not sent to this page/)).toBeNull();
  expect(asked).toHaveLength(1);
});
