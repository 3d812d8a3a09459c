// The WebSocket to the backend: commands out, replies and messages in. It reconnects and resumes by
// itself. It holds no views; state/store.ts does.
import { withBasePath } from "./basePath";
import { checkSession, signIn } from "./session";
import { resumeSession } from "./sessionResume";
import type { Command, ErrorView, Replies, ServerMessage } from "./types";

type BackendLinkState = "connecting" | "open" | "waiting" | "refused";
export interface BackendLink {
  state: BackendLinkState;
  /** When the next attempt is made, in milliseconds of Date.now(). */
  retryAt: number | null;
  attempts: number;
  /** Another program responds at this address. */
  isTaken: boolean;
}

type Named<T extends Command["type"]> = Extract<Command, { type: T }>;
export type Fields<T extends Command["type"]> = Omit<Named<T>, "type" | "id">;
type PendingCommand = { resolve(value: unknown): void; reject(error: CommandError): void };

/** A message of the backend; null if the text is not valid JSON. */
function parseMessage(text: string): ServerMessage | null {
  try {
    return JSON.parse(text) as ServerMessage;
  } catch {
    return null;
  }
}

/** A command that failed, with the error that the backend reported. */
export class CommandError extends Error {
  constructor(readonly view: ErrorView) {
    super(view.message);
  }
}

const LOST: ErrorView = {
  code: "CONNECTION_LOST",
  message: "The connection to mcplens was lost before it answered.",
  category: "transport",
  retryable: true,
  details: {},
  helpUrl: "/docs/errors/connection-lost",
};
// Quick at first, since a restarted backend is back within a second; then slower.
const DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000] as const;

/**
 * A command as JSON text; `raw` fields are inserted as they are, so that no digit of a number is
 * lost.
 */
export function encode(command: object, raw: Record<string, string> = {}): string {
  const extra = Object.entries(raw).map(([key, text]) => `,${JSON.stringify(key)}:${text}`);
  return `${JSON.stringify(command).slice(0, -1)}${extra.join("")}}`;
}

interface SocketEvents {
  message(message: ServerMessage): void;
  link(link: BackendLink): void;
  /** Where to resume from. */
  place(): { run_id: string | null; seq: number | null };
}

export class Socket {
  private socket: WebSocket | null = null;
  private nextId = 1;
  private attempts = 0;
  private isOpen = false;
  private isTaken = false;
  /** Resuming is tried once per established connection. */
  private hasComeBack = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Map<number, PendingCommand>();
  private readonly ids = new WeakMap<Promise<unknown>, number>();

  constructor(
    private readonly events: SocketEvents,
    private readonly open: (url: string) => WebSocket = (url) => new WebSocket(url),
  ) {}

  async start(): Promise<void> {
    await signIn();
    this.connect();
  }

  /** Try now instead of at the end of the delay. */
  retry(): void {
    clearTimeout(this.timer);
    this.connect();
  }

  command<T extends keyof Replies & Command["type"]>(
    type: T,
    fields: Fields<T>,
    raw?: Record<string, string>,
  ): Promise<Replies[T]> {
    const id = this.nextId++;
    const reply = new Promise<Replies[T]>((resolve, reject) => {
      if (!this.isOpen || !this.socket) return reject(new CommandError(LOST));
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.socket.send(encode({ type, id, ...fields }, raw));
    });
    this.ids.set(reply, id);
    return reply;
  }

  /** Cancel a pending command, which then fails as cancelled. */
  abandon(reply: Promise<unknown>): void {
    const command_id = this.ids.get(reply);
    if (command_id === undefined || !this.waiting.has(command_id)) return;
    this.socket?.send(encode({ type: "Abandon", id: this.nextId++, command_id }));
  }

  private connect(): void {
    this.leave();
    this.tell("connecting");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = this.open(`${scheme}//${location.host}${withBasePath("/api/socket")}`);
    this.socket = socket;
    socket.onopen = () => {
      const resume = { type: "Resume", id: this.nextId++, ...this.events.place() };
      socket.send(JSON.stringify(resume));
    };
    socket.onmessage = (event) => {
      const message = parseMessage(String(event.data));
      // An unreadable message may be a reply that is waited for: reconnect and resync.
      if (message) this.receive(message);
      else socket.close();
    };
    socket.onclose = () => void this.lost(socket);
  }

  /** One connection at a time: messages of the old one are ignored. */
  private leave(): void {
    if (!this.socket) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
  }

  private receive(message: ServerMessage): void {
    if (message.type === "Hello") {
      this.attempts = 0;
      this.isOpen = true;
      this.isTaken = false;
      this.hasComeBack = false;
      this.events.message(message);
      this.tell("open");
      return;
    }
    if (message.type === "CommandReply") this.settle(message.id)?.resolve(message.value);
    else if (message.type === "Failure") {
      this.settle(message.id)?.reject(new CommandError(message.error));
    } else this.events.message(message);
  }

  private settle(id: number): PendingCommand | undefined {
    const found = this.waiting.get(id);
    this.waiting.delete(id);
    return found;
  }

  private async lost(socket: WebSocket): Promise<void> {
    if (socket !== this.socket) return;
    this.isOpen = false;
    for (const { reject } of this.waiting.values()) reject(new CommandError(LOST));
    this.waiting.clear();
    const delay = DELAYS_MS[Math.min(this.attempts, DELAYS_MS.length - 1)] ?? 8000;
    this.attempts += 1;
    const retryAt = this.wait(delay);
    // A refused WebSocket looks like an unreachable one; only HTTP tells them apart.
    const found = await checkSession();
    if (this.socket !== socket) return;
    if (found === "no") return this.refused(socket);
    this.isTaken = found === "taken";
    this.tell("waiting", retryAt);
  }

  /** Not signed in: mcplens was restarted, or this browser never signed in. */
  private async refused(socket: WebSocket): Promise<void> {
    clearTimeout(this.timer);
    const found = this.hasComeBack ? "no" : await resumeSession();
    if (this.socket !== socket) return;
    this.hasComeBack = found !== "unknown";
    if (found === "yes") this.connect();
    else if (found === "no") this.tell("refused");
    else this.wait(DELAYS_MS[0]);
  }

  private wait(delay: number): number {
    const retryAt = Date.now() + delay;
    this.tell("waiting", retryAt);
    this.timer = setTimeout(() => this.connect(), delay);
    return retryAt;
  }

  private tell(state: BackendLinkState, retryAt: number | null = null): void {
    this.events.link({ state, retryAt, attempts: this.attempts, isTaken: this.isTaken });
  }
}
