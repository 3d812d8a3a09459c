import { MantineProvider } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CommandError } from "../api/socket";
import { socket } from "./commands";
import { withWaitingToast } from "./toasts";

vi.mock("./commands");

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  render(
    <MantineProvider env="test">
      <Notifications />
    </MantineProvider>,
  );
});
afterEach(() => {
  notifications.clean();
  cleanup();
  vi.useRealTimers();
});

const cancelled = new CommandError({
  code: "CANCELLED",
  message: "cancelled by the user",
  category: "cancelled",
  retryable: false,
  details: {},
  helpUrl: "/docs/errors/cancelled",
});

it("says nothing of what is done in a moment", async () => {
  const shown = vi.spyOn(notifications, "show");
  expect(await withWaitingToast("news", "None came", Promise.resolve(3))).toBe(3);
  await act(() => vi.advanceTimersByTimeAsync(5000));
  expect(shown).not.toHaveBeenCalled();
});

it("names what it waits for, and tells no failure of what was cancelled", async () => {
  let fail: (thrown: unknown) => void = () => undefined;
  const work = new Promise<number>((_, reject) => {
    fail = reject;
  });
  const done = withWaitingToast("news", "None came", work);
  await act(() => vi.advanceTimersByTimeAsync(1100));
  expect(screen.getByText(/Waiting for news since \d\d:\d\d:\d\d/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(socket.abandon).toHaveBeenCalledWith(work);
  const shown = vi.spyOn(notifications, "show");
  await act(async () => fail(cancelled));
  expect(await done).toBeNull();
  expect(shown).not.toHaveBeenCalled();
});

it("tells a failure that nobody asked for", async () => {
  expect(await withWaitingToast("news", "None came", Promise.reject(cancelled))).toBeNull();
  expect(await screen.findByText("None came")).toBeTruthy();
});
