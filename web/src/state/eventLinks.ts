// Follows the links that events carry: a reply to its request and back, the end of a question, the
// parts of an HTTP exchange. A link whose target is not loaded leads nowhere; nothing is guessed.
import type { EventView } from "../api/types";

// Of the lane between host and server, and of that between app and host.
const FRAMES = new Set(["FrameSent", "FrameReceived", "AppMessageReceived", "AppMessageSent"]);
const isFrame = ({ kind }: EventView): boolean => FRAMES.has(kind);

export const isHttp = ({ kind }: EventView): boolean => kind.startsWith("Http");

export const isReply = (event: EventView): boolean =>
  isFrame(event) && (event.status === "result" || event.status === "error");

/** A message that a client sent to the gateway. */
export const isInbound = ({ kind }: EventView): boolean => kind === "InboundReceived";

// A client's request for news stays open on purpose.
const LISTEN = "subscriptions/listen";

const seqIn = (value: unknown): number | null => (typeof value === "number" ? value : null);

// By the code of the error. A request may be open for as long as the session lasts, so that no
// answer to it was due when the session was lost.
const END_WORDS: Record<string, string> = {
  REQUEST_TIMEOUT: "timed out",
  SERVER_EXITED: "server exited",
  CONNECTION_LOST: "connection lost",
  SESSION_EXPIRED: "session expired",
};

/** In words, how a request ended that has no answer. */
function endWords({ status, detail }: EventView): string | undefined {
  if (status === "completed") return undefined;
  if (status === "cancelled") return "cancelled";
  const { code } = (detail.error ?? {}) as { code?: unknown };
  return END_WORDS[String(code)] ?? "no answer";
}

interface Exchange {
  parts: EventView[];
  response: EventView | undefined;
  /** The message of ours that it was made for. */
  sent: EventView | undefined;
}

const isEventStream = ({ detail }: EventView): boolean =>
  Array.isArray(detail.headers) &&
  detail.headers.some(
    ([name, value]) =>
      /^content-type$/i.test(String(name)) && /^text\/event-stream/i.test(String(value)),
  );

export class EventLinks {
  /** Whether any event has a link: recordings of older versions have none. */
  hasAny = false;
  /** The servers that a client of the gateway reached. */
  readonly serversOfClients = new Set<string>();
  /** The servers that HTTP was spoken with. */
  private readonly serversOverHttp = new Set<string>();
  /** Whether clients of a gateway are among the events. */
  hasClients = false;
  /** The request to a server, by the seq of the client's request that it was sent for. */
  private readonly hops = new Map<number, EventView>();
  /** The reply to a request, or the closing of a question, by the seq of what it ends. */
  private readonly answers = new Map<number, EventView>();
  /** RequestEnded, by the seq of the request. */
  private readonly ends = new Map<number, EventView>();
  /** RequestPaused, by the seq of the question. */
  private readonly pauses = new Map<number, EventView>();
  private readonly exchanges = new Map<number, Exchange>();
  /** The first request of a call, by mcplens's id of the call. */
  private readonly calls = new Map<string, EventView>();
  /** The requests that went on with a call, by the seq of the call's first request. */
  private readonly rounds = new Map<number, EventView[]>();
  /** Questions that were not closed yet, by the seqs of the requests that ask and wait. */
  private readonly asking = new Map<number, Set<number>>();

  constructor(private readonly find: (seq: number) => EventView | undefined) {}

  clear(): void {
    this.hasAny = false;
    this.hasClients = false;
    this.serversOfClients.clear();
    this.serversOverHttp.clear();
    for (const map of [this.answers, this.ends, this.pauses, this.exchanges, this.hops])
      map.clear();
    for (const map of [this.rounds, this.asking, this.calls]) map.clear();
  }

  /** Index an event; they must come in order. */
  add(event: EventView): void {
    const { kind, seq, request_seq, exchange_id, purpose } = event;
    this.hasAny ||= request_seq !== null || exchange_id !== null || purpose !== null;
    if (exchange_id !== null) this.addToExchange(event, exchange_id);
    if (isInbound(event)) {
      this.hasAny = true;
      this.hasClients = true;
    }
    const inbound = kind === "FrameSent" ? seqIn(event.detail.inbound_seq) : null;
    if (inbound !== null) this.addHop(event, inbound);
    if (kind === "RequestEnded" && request_seq !== null) this.ends.set(request_seq, event);
    const question = kind === "RequestPaused" ? seqIn(event.detail.question_seq) : null;
    if (question !== null) this.pauses.set(question, event);
    const { caused_by_seq: first } = event;
    if (kind === "FrameSent" && event.status === "request") {
      const { call_id } = event;
      if (call_id !== null && !this.calls.has(call_id)) this.calls.set(call_id, event);
      // Requests about its task belong to a call too.
      if (first !== null && this.before(event, first)?.method === event.method)
        this.rounds.set(first, [...(this.rounds.get(first) ?? []), event]);
    }
    if (kind === "QuestionOpened" || kind === "QuestionClosed") this.noteQuestion(event);
    const ended = this.endedSeq(event);
    // Of several replies to a batch, or to an id that was used twice, the first one is the answer.
    if (ended !== null && ended < seq && !this.answers.has(ended)) this.answers.set(ended, event);
  }

  /** Forget the events before this one. */
  dropBefore(first: number): void {
    for (const map of [this.answers, this.ends, this.pauses, this.rounds, this.asking, this.hops])
      for (const seq of map.keys()) if (seq < first) map.delete(seq);
    for (const [id, { seq }] of this.calls) if (seq < first) this.calls.delete(id);
    for (const [id, exchange] of this.exchanges) {
      const { parts, sent } = exchange;
      if ((parts[0]?.seq ?? first) < first)
        exchange.parts = parts.filter((part) => part.seq >= first);
      if (sent && sent.seq < first) exchange.sent = undefined;
      if ((exchange.response?.seq ?? first) < first) exchange.response = undefined;
      if (!exchange.parts.length && !exchange.sent) this.exchanges.delete(id);
    }
  }

  /** Whether HTTP was spoken with a server; null for any. */
  hasHttp = (serverId: string | null): boolean =>
    serverId === null ? this.serversOverHttp.size > 0 : this.serversOverHttp.has(serverId);

  /** The request that an event belongs to. */
  requestOf = (event: EventView): EventView | undefined => this.before(event, event.request_seq);

  /**
   * What an event is nested beneath: its request, else the request that caused it; that of the
   * client which the gateway sent it for.
   */
  parentOf = (event: EventView): EventView | undefined =>
    this.before(event, event.request_seq ?? event.caused_by_seq ?? seqIn(event.detail.inbound_seq));

  /** The request to a server that was sent for a client's request. */
  hopOf = (event: EventView): EventView | undefined =>
    isInbound(event) ? ofSameRun(event, this.hops.get(event.seq)) : undefined;

  /** The message of a client that an event belongs to; itself, if it is one. */
  inboundOf(event: EventView): EventView | undefined {
    let one: EventView | undefined = event;
    while (one && !isInbound(one)) one = this.parentOf(one);
    return one;
  }

  /** The client of the gateway that an event belongs to, by the name that it gave; or "". */
  clientOf(event: EventView): string {
    if (!this.hasClients) return "";
    const { client_name } = (this.inboundOf(event) ?? event).detail;
    return typeof client_name === "string" ? client_name : "";
  }

  /** The request or question that an event is the end of. */
  endedBy(event: EventView): EventView | undefined {
    const seq = event.kind === "RequestEnded" ? event.request_seq : this.endedSeq(event);
    return this.before(event, seq);
  }

  /** The reply to a request, the closing of a question. */
  answerOf(event: EventView): EventView | undefined {
    return ofSameRun(event, this.answers.get(requestSeq(event)));
  }

  /** A request, and those that went on with its call where it had to be asked again. */
  roundsOf(event: EventView): EventView[] {
    const { status, kind, seq, run_id } = event;
    const isFirst = status === "request" && kind === "FrameSent";
    const more = isFirst ? (this.rounds.get(seq) ?? []) : [];
    // A pinned event may be of another run.
    return more[0]?.run_id === run_id ? [event, ...more] : [event];
  }

  /** The request that last went on with a call that had to be asked again; else the call itself. */
  lastRoundOf = (event: EventView): EventView => this.roundsOf(event).at(-1) ?? event;

  /** The requests of a call, if its first one is loaded. */
  requestsOfCall(callId: string): EventView[] {
    const first = this.calls.get(callId);
    return first ? this.roundsOf(first) : [];
  }

  /** Whether a question of this request, or one that it waits for, is open. */
  isAsking = ({ seq }: EventView): boolean => (this.asking.get(seq)?.size ?? 0) > 0;

  /** Seconds from a request or question to its end, also in the row of that end. */
  elapsedOf(event: EventView): number | null {
    const began = event.kind === "RequestEnded" ? undefined : this.endedBy(event);
    if (began) return event.mono - began.mono;
    const answer = this.answerOf(event);
    if (answer) return answer.mono - event.mono;
    const { elapsed_s } = this.endOf(event)?.detail ?? {};
    return typeof elapsed_s === "number" ? elapsed_s : null;
  }

  /** In words, how a request of ours ended that was given up before an answer came. */
  outcomeOf(event: EventView): string | undefined {
    const ended = this.endOf(event);
    const answer = this.answerOf(event);
    return ended && (!answer || answer.seq > ended.seq) ? endWords(ended) : undefined;
  }

  /** Whether a request still waits; a stream that stays open on purpose does not. */
  isPending(event: EventView): boolean {
    if (event.status !== "request" || event.purpose === "listening") return false;
    if (isInbound(event) && event.method === LISTEN) return false;
    return this.hasAny && this.elapsedOf(event) === null;
  }

  /** Whether an event belongs to a request without being its answer. */
  isNested(event: EventView): boolean {
    if (event.status === "request") return (event.request_seq ?? event.caused_by_seq) !== null;
    if (event.status === "notification") return event.request_seq !== null;
    const request = isReply(event) ? this.requestOf(event) : undefined;
    return request !== undefined && this.isNested(request);
  }

  /** The HTTP events of an exchange, in order. */
  partsOf(exchangeId: number): EventView[] {
    return this.exchanges.get(exchangeId)?.parts ?? [];
  }

  /** The message of ours that an exchange was made for. */
  sentIn = (exchangeId: number | null): EventView | undefined =>
    exchangeId === null ? undefined : this.exchanges.get(exchangeId)?.sent;

  responseIn = (exchangeId: number | null): EventView | undefined =>
    exchangeId === null ? undefined : this.exchanges.get(exchangeId)?.response;

  /** Whether a message came as an event of an HTTP stream. */
  isStreamed(event: EventView): boolean {
    if (event.kind !== "FrameReceived") return false;
    const response = this.responseIn(event.exchange_id);
    return response !== undefined && isEventStream(response);
  }

  callIdOf(event: EventView): string | null {
    return event.call_id ?? this.originOf(event)?.call_id ?? null;
  }

  /** The app that an event belongs to, or that caused it. */
  appIdOf(event: EventView): string | null {
    let one = isHttp(event) ? this.originOf(event) : event;
    for (; one; one = this.parentOf(one)) {
      const { app_id } = one.detail;
      if (typeof app_id === "string") return app_id;
    }
    return null;
  }

  purposeOf(event: EventView): string | null {
    return event.purpose ?? this.originOf(event)?.purpose ?? null;
  }

  /** Whether an event is this request, belongs to it, or was caused by it. */
  isOfRequest(event: EventView, seq: number): boolean {
    let one = isHttp(event) ? this.originOf(event) : event;
    for (; one; one = this.parentOf(one))
      if ([one.seq, one.request_seq, one.caused_by_seq].includes(seq)) return true;
    return false;
  }

  /** The calls whose clocks stood still for a question, by the seq of its request. */
  pausedCallIds(questionSeq: number | null): string[] {
    const ids = questionSeq === null ? null : this.pauses.get(questionSeq)?.detail.call_ids;
    return Array.isArray(ids) ? ids.map(String) : [];
  }

  /** The request of an event; for an HTTP event the message that the exchange was made for. */
  private originOf(event: EventView): EventView | undefined {
    if (!isHttp(event)) return this.requestOf(event);
    const { exchange_id } = event;
    return exchange_id === null
      ? undefined
      : ofSameRun(event, this.exchanges.get(exchange_id)?.sent);
  }

  private endOf(event: EventView): EventView | undefined {
    return event.status === "request"
      ? ofSameRun(event, this.ends.get(requestSeq(event)))
      : undefined;
  }

  /** A linked event, which is always an earlier one. */
  private before(event: EventView, seq: number | null): EventView | undefined {
    return seq !== null && seq < event.seq ? ofSameRun(event, this.find(seq)) : undefined;
  }

  private endedSeq(event: EventView): number | null {
    if (event.kind === "QuestionClosed") return seqIn(event.detail.opened_seq);
    if (isReply(event) || event.kind === "InboundAnswered") return event.request_seq;
    // A batch may also bring notifications: it is the answer of another batch alone.
    const isBatch = event.status === "batch" && this.requestOf(event)?.status === "batch";
    return isBatch && event.kind === "FrameReceived" ? event.request_seq : null;
  }

  /** A request that was sent again after its session was lost counts in its last form. */
  private addHop(event: EventView, inbound: number): void {
    this.serversOfClients.add(event.server_id);
    if (event.status === "request" && event.caused_by_seq === null) this.hops.set(inbound, event);
  }

  private noteQuestion(event: EventView): void {
    const opened = event.kind === "QuestionOpened" ? event : this.endedBy(event);
    if (!opened) return;
    for (const seq of [opened.request_seq, opened.caused_by_seq, opened.seq]) {
      if (seq === null) continue;
      const open = this.asking.get(seq) ?? new Set();
      if (opened === event) open.add(opened.seq);
      else open.delete(opened.seq);
      if (open.size) this.asking.set(seq, open);
      else this.asking.delete(seq);
    }
  }

  private addToExchange(event: EventView, id: number): void {
    const exchange = this.exchanges.get(id) ?? { parts: [], response: undefined, sent: undefined };
    if (isHttp(event)) {
      exchange.parts.push(event);
      this.serversOverHttp.add(event.server_id);
    }
    if (event.kind === "HttpResponseReceived") exchange.response = event;
    if (event.kind === "FrameSent") exchange.sent ??= event;
    this.exchanges.set(id, exchange);
  }
}

/** A pinned event may be of another run than those that are indexed. */
const ofSameRun = ({ run_id }: EventView, found?: EventView): EventView | undefined =>
  found?.run_id === run_id ? found : undefined;

/** The seq by which others refer to a request, which may have been sent again. */
const requestSeq = ({ seq, status, request_seq }: EventView): number =>
  status === "request" ? (request_seq ?? seq) : seq;
