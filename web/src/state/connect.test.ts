import { notifications } from "@mantine/notifications";
import { beforeEach, expect, it, vi } from "vitest";
import type { ServerView } from "../api/types";
import { aCall, aServer } from "../testing/views";
import { command } from "./commands";
import { connect, resend } from "./connect";
import { useInspector } from "./store";

vi.mock("./commands");

const say = (part: Partial<ServerView>): void =>
  useInspector.setState({ servers: new Map([["demo", aServer(part)]]) });
const error = {
  code: "CONNECTION_REFUSED",
  message: "refused",
  category: "connection" as const,
  retryable: true,
  details: {},
  helpUrl: "/docs/errors/connection-refused",
};
const retry = { count: 1, most: 3, at: 9 };
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  vi.mocked(command).mockResolvedValue(aServer({ state: "CONNECTING", since: 5 }));
});

it("is not taken in by the connection before, which the store still has", async () => {
  say({ state: "CONNECTED", since: 1 });
  const done = vi.fn();
  void connect("demo").then(done);
  await soon();
  expect(command).toHaveBeenCalledWith("Connect", { server_id: "demo" });
  say({ state: "DISCONNECTED", since: 4 });
  await soon();
  expect(done).not.toHaveBeenCalled();
  say({ state: "CONNECTED", since: 6 });
  await soon();
  expect(done).toHaveBeenCalled();
});

it("waits for the attempts that follow, and sends then", async () => {
  say({ state: "DISCONNECTED", since: 1 });
  const send = vi.fn(async () => aCall());
  const sent = resend("demo", send);
  await soon();
  say({ state: "ERROR", since: 6, error, retry });
  await soon();
  say({ state: "CONNECTING", since: 7, error, retry });
  await soon();
  expect(send).not.toHaveBeenCalled();
  say({ state: "CONNECTED", since: 8 });
  expect((await sent)?.call_id).toBe("c1");
  expect(send).toHaveBeenCalledTimes(1);
});

it("says that nothing was sent when it was given up", async () => {
  say({ state: "DISCONNECTED", since: 1 });
  const send = vi.fn(async () => aCall());
  const shown = vi.spyOn(notifications, "show");
  const sent = resend("demo", send);
  await soon();
  say({ state: "DISCONNECTED", since: 6, error });
  expect(await sent).toBeNull();
  expect(send).not.toHaveBeenCalled();
  expect(shown.mock.lastCall?.[0].title).toBe("Not sent: could not connect");
});
