// Which request a log line belongs to. Over HTTP the stream that carried it tells; on a pipe the
// server says nothing, so a line that comes while one request alone is open is taken for its.
import type { EventView } from "../api/types";

type Id = NonNullable<EventView["request_id"]>;

export interface Owner {
  id: Id;
  /** The stream told; else it was the only request that was open. */
  isTold: boolean;
}

// Nobody asks for these: they are open beside any other.
const QUIET = new Set(["ping", "subscriptions/listen"]);

export class Owners {
  private owners = new WeakMap<EventView, Owner>();
  private open = new Map<string, Set<Id>>();
  /** The stream that brought the last log message of each server. */
  private streams = new Map<string, unknown>();

  of(event: EventView): Owner | undefined {
    return this.owners.get(event);
  }

  clear(): void {
    this.open.clear();
    this.streams.clear();
  }

  take(event: EventView): void {
    const { kind, server_id, method, request_id, detail } = event;
    if (kind === "RequestStarted" && request_id !== null && !QUIET.has(method ?? "")) {
      const open = this.open.get(server_id) ?? new Set();
      this.open.set(server_id, open.add(request_id));
    } else if (kind === "RequestEnded" && request_id !== null) {
      this.open.get(server_id)?.delete(request_id);
    } else if (kind === "StateChanged") this.open.delete(server_id);
    else if (kind === "FrameReceived" && method === "notifications/message")
      this.streams.set(server_id, detail.channel);
    else if (kind === "LogReceived") this.put(event, this.streams.get(server_id));
    else if (kind === "StderrLine") this.put(event, undefined);
  }

  private put(event: EventView, stream: unknown): void {
    if (typeof stream === "number" || typeof stream === "string") {
      this.owners.set(event, { id: stream, isTold: true });
      return;
    }
    const open = this.open.get(event.server_id);
    const [only] = open ?? [];
    if (open?.size === 1 && only !== undefined) this.owners.set(event, { id: only, isTold: false });
  }
}
