import { beforeEach, expect, it, vi } from "vitest";
import { aServer } from "../testing/views";

const asked = vi.hoisted(() => vi.fn());
const confirmed = vi.hoisted(() => vi.fn());
vi.mock("../state/commands", () => ({ command: asked }));
vi.mock("./Confirmation", () => ({ askToConfirm: confirmed }));
vi.mock("@mantine/notifications", () => ({ notifications: { show: vi.fn() } }));

const { restart, restartLabel } = await import("./connectionActions");

const STATES = ["CONNECTED", "CONNECTING", "DISCONNECTED", "DISCONNECTING", "ERROR"] as const;
const given = (): string[] => asked.mock.calls.map(([type]) => type);
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  asked.mockReset().mockResolvedValue(aServer({ state: "DISCONNECTED" }));
  confirmed.mockReset();
});

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
  asked.mockResolvedValue(aServer({ needs_confirmation: true }));
  restart(aServer());
  await soon();
  expect(given()).toEqual(["Disconnect"]);
  expect(confirmed).toHaveBeenCalledTimes(1);
});

it("has the word for what it does", () => {
  expect(restartLabel(aServer())).toBe("Restart");
  expect(restartLabel(aServer({ transport: "http" }))).toBe("Reconnect");
});
