// What belongs beneath what: an answer and its progress beneath the request, a question beneath
// the call that caused it, the next round of a call beneath its first.
import type { EventView } from "../api/types";

// Requests whose ids are remembered; a round begins right after an answer.
const REMEMBERED = 5_000;

interface Round {
  method: string | null;
  first: EventView;
  /** The questions of this round that wait. */
  waiting: Set<unknown>;
}

type Id = EventView["request_id"];

export class Causes {
  private parents = new WeakMap<EventView, EventView>();
  private requests = new Map<string, EventView>();
  private rounds = new Map<string, Round[]>();
  private lastProgress = new Map<string, EventView>();

  /** What an event belongs beneath. */
  parentOf(event: EventView): EventView | undefined {
    return this.parents.get(event);
  }

  clear(): void {
    this.requests.clear();
    this.rounds.clear();
    this.lastProgress.clear();
  }

  take(event: EventView): void {
    const { kind, server_id, request_id, detail } = event;
    if (kind === "FrameSent" || kind === "FrameReceived") this.takeFrame(event);
    else if (kind === "ServerRequestReceived") this.ask(server_id, request_id, detail.caused_by);
    else if (kind === "RequestPaused") {
      // Where the server does not say what its question is about, it stops the only call there is.
      const ids = detail.request_ids;
      if (Array.isArray(ids) && ids.length === 1)
        this.ask(server_id, detail.question_id as Id, ids[0]);
    } else if (kind === "ProgressReceived") {
      this.put(this.lastProgress.get(server_id), this.request(server_id, true, request_id));
    } else if (kind === "InputRoundStarted") this.begin(event);
    else if (kind === "QuestionOpened") this.open(event);
    else if (kind === "QuestionClosed") {
      for (const round of this.rounds.get(server_id) ?? [])
        round.waiting.delete(detail.question_id);
    } else if (kind === "StateChanged") this.rounds.delete(server_id);
  }

  private takeFrame(event: EventView): void {
    const { server_id, request_id, status, method } = event;
    const isSent = event.kind === "FrameSent";
    if (status === "request") {
      this.remember(keyOf(server_id, isSent, request_id), event);
      if (isSent) this.follow(event);
    } else if (status === "result" || status === "error") {
      this.put(event, this.request(server_id, !isSent, request_id));
    } else if (method === "notifications/progress" && !isSent) {
      this.lastProgress.set(server_id, event);
    }
  }

  /** The server asks something because of a request of ours. */
  private ask(serverId: string, question: Id, cause: unknown): void {
    if (cause === null || cause === undefined) return;
    const asked = this.request(serverId, false, question);
    if (asked && !this.parents.has(asked)) this.put(asked, this.request(serverId, true, cause));
  }

  private begin({ server_id, request_id, method }: EventView): void {
    const answered = this.request(server_id, true, request_id);
    if (!answered) return;
    const round = { method, first: this.parents.get(answered) ?? answered, waiting: new Set() };
    this.rounds.set(server_id, [...(this.rounds.get(server_id) ?? []), round]);
  }

  private open(event: EventView): void {
    const { server_id, request_id, detail } = event;
    if (request_id !== null) {
      this.ask(server_id, request_id, detail.caused_by);
      this.put(event, this.request(server_id, false, request_id));
      return;
    }
    const cause = this.request(server_id, true, detail.caused_by);
    const rounds = this.rounds.get(server_id) ?? [];
    const first = cause && (this.parents.get(cause) ?? cause);
    const round = rounds.findLast((one) => first === undefined || one.first === first);
    round?.waiting.add(detail.question_id);
    this.put(event, first ?? round?.first);
  }

  /** A request that is sent once all questions of a round are answered is that call's next. */
  private follow(event: EventView): void {
    const rounds = this.rounds.get(event.server_id);
    const at = rounds?.findIndex((one) => one.method === event.method && !one.waiting.size) ?? -1;
    if (!rounds || at < 0) return;
    this.put(event, rounds[at]?.first);
    rounds.splice(at, 1);
  }

  private request(serverId: string, isOurs: boolean, id: unknown): EventView | undefined {
    return this.requests.get(keyOf(serverId, isOurs, id));
  }

  private remember(key: string, event: EventView): void {
    this.requests.delete(key);
    this.requests.set(key, event);
    if (this.requests.size <= REMEMBERED) return;
    const oldest = this.requests.keys().next().value;
    if (oldest !== undefined) this.requests.delete(oldest);
  }

  private put(child: EventView | undefined, parent: EventView | undefined): void {
    if (child && parent && parent.seq < child.seq) this.parents.set(child, parent);
  }
}

/** The ids 1 and "1" are two, and so are ours and the server's. */
const keyOf = (serverId: string, isOurs: boolean, id: unknown): string =>
  `${serverId} ${isOurs} ${typeof id} ${id}`;
