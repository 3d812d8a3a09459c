import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { AppHost } from "./AppHost";
import type { Consent } from "./appState";
import { Consents } from "./HostedApp";

it("lets nobody agree to what has just appeared, or has just moved", () => {
  vi.useFakeTimers();
  const decide = vi.fn();
  const host = { decide } as unknown as AppHost;
  const shown = (...consents: Consent[]) => (
    <MantineProvider>
      <Consents host={host} consents={consents} />
    </MantineProvider>
  );
  const one = { key: 1, url: "https://one.example" };
  const two = { key: 2, url: "https://two.example" };
  const press = (): void =>
    void fireEvent.click(screen.getAllByRole("button", { name: "Open" })[0] as HTMLElement);
  const { rerender } = render(shown(one, two));
  press();
  expect(decide).not.toHaveBeenCalled();
  act(() => void vi.advanceTimersByTime(700));
  press();
  expect(decide).toHaveBeenLastCalledWith(one, true);
  // The second one is now where the first was.
  rerender(shown(two));
  press();
  expect(decide).toHaveBeenCalledTimes(1);
  fireEvent.click(screen.getByRole("button", { name: "Decline" }));
  expect(decide).toHaveBeenLastCalledWith(two, false);
  vi.useRealTimers();
});
