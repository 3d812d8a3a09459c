import { beforeEach, expect, it, vi } from "vitest";
import { command } from "../state/commands";
import { lastServerId, rememberServer } from "../state/lastVisited";
import { aServer } from "../testing/views";
import * as confirmation from "./Confirmation";
import { restart, restartLabel, toggleConnection } from "./connectionActions";

vi.mock("../state/commands");

const asked = vi.mocked(command);

const STATES = ["CONNECTED", "CONNECTING", "DISCONNECTED", "DISCONNECTING", "ERROR"] as const;
const given = (): string[] => asked.mock.calls.map(([type]) => type);
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => void asked.mockResolvedValue(aServer({ state: "DISCONNECTED" })));

it.each(STATES)("a server that is %s is left and connected", async (state) => {
  restart(aServer({ state }));
  await soon();
  expect(given()).toEqual(["Disconnect", "Connect"]);
});

it("is done once where the key is pressed again while the server is being left", async () => {
  const replies: (() => void)[] = [];
  asked.mockImplementation(() => new Promise((resolve) => replies.push(() => resolve(aServer()))));
  restart(aServer());
  restart(aServer());
  expect(given()).toEqual(["Disconnect", "Disconnect"]);
  replies[0]?.();
  await soon();
  expect(given()).toHaveLength(2);
  replies[1]?.();
  await soon();
  expect(given()).toEqual(["Disconnect", "Disconnect", "Connect"]);
});

it("shows what starts where the entry has changed to what nobody has confirmed", async () => {
  const confirmed = vi.spyOn(confirmation, "askToConfirm").mockReturnValue();
  asked.mockResolvedValue(aServer({ needs_confirmation: true }));
  restart(aServer());
  await soon();
  expect(given()).toEqual(["Disconnect"]);
  expect(confirmed).toHaveBeenCalledTimes(1);
});

it("makes the server that is connected by hand the current one, and not one that is left", () => {
  rememberServer("other");
  toggleConnection(aServer({ state: "CONNECTED" }));
  expect(lastServerId()).toBe("other");
  toggleConnection(aServer({ state: "DISCONNECTED" }));
  expect(lastServerId()).toBe("demo");
});

it("has the word for what it does", () => {
  expect(restartLabel(aServer())).toBe("Restart");
  expect(restartLabel(aServer({ transport: "http" }))).toBe("Reconnect");
});
