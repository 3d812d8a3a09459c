import { MantineProvider } from "@mantine/core";
import { renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it } from "vitest";
import type { ServerView } from "../api/types";
import { emptyInspector, useInspector } from "../state/store";
import { aCall, aServer } from "../testing/views";
import { useActions } from "./paletteActions";

const around = ({ children }: { children: ReactNode }) => (
  <MantineProvider env="test" defaultColorScheme="light">
    {children}
  </MantineProvider>
);

function labels(shown: ServerView, others: ServerView[] = []) {
  const servers = new Map([shown, ...others].map((one) => [one.server_id, one]));
  const calls = new Map([
    ["c1", aCall({ call_id: "c1", name: "over", status: "completed" })],
    ["c2", aCall({ call_id: "c2", name: "slow", status: "in_progress" })],
  ]);
  useInspector.setState({ ...emptyInspector(), servers, calls });
  const page = { isMonitorOpen: true, onMonitor: () => {}, onHelp: () => {} };
  const { result } = renderHook(() => useActions(page, shown), { wrapper: around });
  const { first, others: rest } = result.current;
  return { first: first.map((one) => one.label), others: rest.map((one) => one.label) };
}

it("offers what can be done now, that which runs first", () => {
  const { first } = labels(aServer());
  expect(first.slice(0, 4)).toEqual([
    "Cancel slow",
    "Restart demo",
    "Disconnect demo",
    "Ping demo",
  ]);
  expect(first).not.toContain("Cancel over");
  expect(first).not.toContain("Edit demo");
  expect(first).toContain("Close the monitor");
  expect(first).toContain("Use the dark theme");
  expect(first).not.toContain("Use the light theme");
});

it("offers of another server what its state allows", () => {
  const off = aServer({ server_id: "far", transport: "streamable-http", is_editable: true });
  expect(labels(aServer(), [{ ...off, state: "DISCONNECTED" }]).others).toEqual([
    "Reconnect far",
    "Connect far",
    "Edit far",
    "Show info about far",
  ]);
  expect(labels(aServer(), [{ ...off, state: "DISCONNECTING" }]).others).toEqual([
    "Reconnect far",
    "Edit far",
    "Show info about far",
  ]);
});
