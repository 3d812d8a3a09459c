// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { aHello } from "../testing/views";
import { tokenOf } from "./session";
import * as sessionResume from "./sessionResume";
import { type BackendLink, encode, Socket } from "./socket";

class Fake {
  sent: string[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  isClosed = false;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.isClosed = true;
  }
}

function made() {
  const fakes: Fake[] = [];
  const links: BackendLink[] = [];
  const socket = new Socket(
    {
      message: () => {},
      link: (link) => links.push(link),
      place: () => ({ run_id: "run", seq: 7 }),
    },
    () => {
      const fake = new Fake();
      fakes.push(fake);
      return fake as unknown as WebSocket;
    },
  );
  return { socket, fakes, links };
}

const ours = { Mcplens: "web" };

function answering(status: number, headers: Record<string, string> = ours): void {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(null, { status, headers })),
  );
}

let resumeSession: MockInstance<typeof sessionResume.resumeSession>;

beforeEach(() => {
  vi.useFakeTimers();
  resumeSession = vi.spyOn(sessionResume, "resumeSession").mockResolvedValue("no");
  answering(204);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("Socket", () => {
  it("begins again after what it cannot read", async () => {
    const { socket, fakes } = made();
    await socket.start();
    fakes[0]?.onmessage?.({ data: '{"type": "Changed", "value": NaN}' });
    expect(fakes[0]?.isClosed).toBe(true);
  });
  it("resumes where it left off, and gives each command its own answer", async () => {
    const { socket, fakes } = made();
    await socket.start();
    const [fake] = fakes;
    fake?.onopen?.();
    expect(JSON.parse(fake?.sent[0] ?? "")).toMatchObject({
      type: "Resume",
      run_id: "run",
      seq: 7,
    });
    fake?.onmessage?.({ data: JSON.stringify(aHello()) });
    const asked = socket.command("Ping", { server_id: "demo" });
    const { id } = JSON.parse(fake?.sent[1] ?? "");
    fake?.onmessage?.({
      data: JSON.stringify({ type: "CommandReply", id, value: { latency_s: 1 } }),
    });
    expect(await asked).toEqual({ latency_s: 1 });
  });
  it("stops what a command waits for, and nothing that is over", async () => {
    const { socket, fakes } = made();
    await socket.start();
    const [fake] = fakes;
    fake?.onmessage?.({ data: JSON.stringify(aHello()) });
    const asked = socket.command("Ping", { server_id: "demo" });
    const { id } = JSON.parse(fake?.sent.at(-1) ?? "");
    socket.abandon(asked);
    expect(JSON.parse(fake?.sent.at(-1) ?? "")).toMatchObject({ type: "Abandon", command_id: id });
    const count = fake?.sent.length;
    fake?.onmessage?.({
      data: JSON.stringify({ type: "CommandReply", id, value: { latency_s: 1 } }),
    });
    await asked;
    socket.abandon(asked);
    socket.abandon(Promise.resolve());
    expect(fake?.sent).toHaveLength(count ?? 0);
  });
  it("fails what waits when the connection is lost, and connects again", async () => {
    const { socket, fakes, links } = made();
    await socket.start();
    fakes[0]?.onmessage?.({ data: JSON.stringify(aHello()) });
    const asked = socket.command("Ping", { server_id: "demo" });
    fakes[0]?.onclose?.();
    await expect(asked).rejects.toThrow("lost");
    await vi.advanceTimersByTimeAsync(300);
    expect(fakes).toHaveLength(2);
    const states = links.map((link) => link.state);
    expect(states).toEqual(["connecting", "open", "waiting", "waiting", "connecting"]);
  });
  it("closes an attempt under way when it tries anew, and hears no more of it", async () => {
    const { socket, fakes, links } = made();
    await socket.start();
    const [first] = fakes;
    socket.retry();
    expect(fakes).toHaveLength(2);
    expect(first?.isClosed).toBe(true);
    first?.onopen?.();
    first?.onmessage?.({ data: JSON.stringify(aHello()) });
    first?.onclose?.();
    expect(first?.sent).toEqual([]);
    expect(links.at(-1)?.state).toBe("connecting");
    fakes[1]?.onmessage?.({ data: JSON.stringify(aHello()) });
    expect(links.at(-1)?.state).toBe("open");
  });
  it("stops and says so when it is not let in", async () => {
    answering(401);
    const { socket, fakes, links } = made();
    await socket.start();
    fakes[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(links.at(-1)?.state).toBe("refused");
    expect(fakes).toHaveLength(1);
  });
  it("comes back by its key to a backend that was restarted, and tries that once", async () => {
    answering(401);
    resumeSession.mockResolvedValue("yes");
    const { socket, fakes, links } = made();
    await socket.start();
    fakes[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(fakes).toHaveLength(2);
    // A browser that keeps no cookies would be turned away for ever.
    fakes[1]?.onclose?.();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fakes).toHaveLength(2);
    expect(links.at(-1)?.state).toBe("refused");
    expect(resumeSession).toHaveBeenCalledTimes(1);
  });
  it("waits when the backend is gone again before it could come back", async () => {
    answering(401);
    resumeSession.mockResolvedValueOnce("unknown").mockResolvedValueOnce("yes");
    const { socket, fakes } = made();
    await socket.start();
    fakes[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(300);
    expect(fakes).toHaveLength(2);
    fakes[1]?.onclose?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(fakes).toHaveLength(3);
  });
  it("says that another program has its address, and waits", async () => {
    answering(401, {});
    const { socket, fakes, links } = made();
    await socket.start();
    fakes[0]?.onclose?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(links.at(-1)).toMatchObject({ state: "waiting", isTaken: true });
    expect(resumeSession).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(300);
    expect(fakes).toHaveLength(2);
  });
});

describe("encode", () => {
  it("writes arguments as they were typed", () => {
    expect(encode({ type: "CallTool", id: 1 }, { arguments: '{"n":12345678901234567890}' })).toBe(
      '{"type":"CallTool","id":1,"arguments":{"n":12345678901234567890}}',
    );
  });
});

describe("tokenOf", () => {
  it("reads the token from the fragment only", () => {
    expect(tokenOf("#token=abc")).toBe("abc");
    expect(tokenOf("#other")).toBeNull();
  });
});
