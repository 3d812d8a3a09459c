// What a row of Traffic says. Paired, a row is a request with its answer, or an HTTP exchange; in
// the order of the wire it is one event.
import type { EventView } from "../../api/types";
import { isHttp, isReply } from "../../state/eventLinks";
import type { EventRing } from "../../state/events";
import { durationOf } from "./eventDuration";
import { eventLabel } from "./eventLabel";
import { previewOf, targetOf } from "./messagePreview";

/** How the events are arranged: requests with their answers, HTTP exchanges, or one by one. */
export type Arrangement = "paired" | "http" | "wire";

export interface RowContext {
  ring: EventRing;
  arrangement: Arrangement;
}

export type Tone = "good" | "wait" | "bad";

export interface RowStatus {
  text: string;
  tone?: Tone;
  /** What it means, where the word alone could worry. */
  title?: string;
}

const isExchange = (event: EventView, { arrangement }: RowContext): boolean =>
  arrangement === "http" && event.kind === "HttpRequestSent" && event.exchange_id !== null;

/** The end of what a row shows: the answer to its last request, or the end of its exchange. */
export function endOf(event: EventView, context: RowContext): EventView | undefined {
  const { links } = context.ring;
  if (context.arrangement === "wire") return undefined;
  if (isExchange(event, context)) {
    const last = links.partsOf(event.exchange_id as number).at(-1);
    return last?.kind === "HttpExchangeEnded" ? last : undefined;
  }
  return links.answerOf(links.lastRoundOf(event));
}

/** All events that a row stands for, in order. */
export function eventsOf(event: EventView, context: RowContext): EventView[] {
  const { links } = context.ring;
  if (context.arrangement === "wire") return [event];
  if (isExchange(event, context)) {
    const parts = links.partsOf(event.exchange_id as number);
    return parts.length ? parts : [event];
  }
  const answer = links.answerOf(event);
  return answer ? [event, answer] : [event];
}

const NOT_SUPPORTED: RowStatus = {
  text: "not supported",
  title:
    "Nothing is wrong: servers of revisions before 2026-07-28 do not know server/discover. " +
    "Unless that revision is set for the server, mcplens goes on with initialize.",
};

const answered = (answer: EventView): RowStatus => {
  if (answer.is_expected) return NOT_SUPPORTED;
  if (answer.malformed) return { text: "malformed", tone: "bad" };
  if (answer.is_error) return { text: "tool error", tone: "bad" };
  if (answer.status === "error") return { text: "error reply", tone: "bad" };
  return { text: "ok", tone: "good" };
};

// How the gateway answered a client.
const OUTCOMES: Record<string, RowStatus> = {
  ok: { text: "ok", tone: "good" },
  cancelled: { text: "cancelled", tone: "wait" },
};

/** The status that a client saw; a tool that failed says so in the answer of its server. */
function relayed(end: EventView, request: EventView, { ring }: RowContext): RowStatus {
  const hop = ring.links.hopOf(request);
  const answer = hop && ring.links.answerOf(ring.links.lastRoundOf(hop));
  if (answer?.is_error) return answered(answer);
  const outcome = String(end.detail.outcome);
  return OUTCOMES[outcome] ?? { text: outcome, tone: "bad" };
}

/** The server of an event; of a client's request, the one that it was passed on to. */
export function serverOf(event: EventView, { ring }: RowContext): string {
  if (event.server_id) return event.server_id;
  const { links } = ring;
  const end = event.kind === "InboundAnswered" ? event : links.answerOf(event);
  return links.hopOf(event)?.server_id ?? String(end?.detail.target_id ?? "");
}

/** The size of a message, also of an answer that is not recorded a second time. */
const bytesOf = ({ kind, detail, size_bytes }: EventView): number =>
  kind === "InboundAnswered" ? Number(detail.size_bytes ?? 0) : size_bytes;

function exchangeStatus(event: EventView, { ring }: RowContext): RowStatus {
  const { links } = ring;
  const { detail, kind } = links.partsOf(event.exchange_id as number).at(-1) ?? event;
  const response = links.responseIn(event.exchange_id);
  if (kind === "HttpExchangeEnded" && detail.error && !response)
    return { text: "failed", tone: "bad" };
  if (!response) return { text: "waiting", tone: "wait" };
  return {
    text: `${response.status} ${String(response.detail.reason ?? "")}`.trim(),
    tone: Number(response.status) >= 400 ? "bad" : "good",
  };
}

/** The status of an event that no answer belongs to. */
function ownStatus(event: EventView): RowStatus {
  if (event.malformed) return { text: "malformed", tone: "bad" };
  if (isReply(event)) return answered(event);
  if (event.kind === "InboundAnswered")
    return (
      OUTCOMES[String(event.detail.outcome)] ?? {
        text: String(event.detail.outcome),
        tone: "bad",
      }
    );
  if (event.kind === "HttpResponseReceived")
    return { text: String(event.status), tone: Number(event.status) >= 400 ? "bad" : undefined };
  if (event.kind === "StateChanged" && event.detail.new === "ERROR")
    return { text: "failed", tone: "bad" };
  if (event.kind === "ReplyUnmatched") return { text: "unmatched", tone: "bad" };
  if (event.kind === "LateReply") return { text: "late", tone: "wait" };
  return { text: "" };
}

export function statusOf(event: EventView, context: RowContext): RowStatus {
  const { links } = context.ring;
  if (isExchange(event, context)) return exchangeStatus(event, context);
  const isRequest = event.status === "request";
  if (!isRequest && event.kind !== "QuestionOpened") return ownStatus(event);
  const last = links.lastRoundOf(event);
  const outcome = links.outcomeOf(last);
  if (outcome) return { text: outcome, tone: outcome === "cancelled" ? "wait" : "bad" };
  if (links.isAsking(event)) return { text: "waits for you", tone: "wait" };
  const end = context.arrangement === "wire" ? undefined : links.answerOf(last);
  if (end?.kind === "InboundAnswered") return relayed(end, event, context);
  if (end && isRequest) return answered(end);
  return isRequest && links.isPending(last) ? { text: "waiting", tone: "wait" } : { text: "" };
}

/** The size of what came back, in all rounds of a call; before that, of what was sent. */
export function sizeOf(event: EventView, context: RowContext): number {
  if (isExchange(event, context)) {
    const parts = context.ring.links.partsOf(event.exchange_id as number);
    const got = parts.reduce((sum, { kind, size_bytes }) => {
      return kind === "HttpRequestSent" ? sum : sum + size_bytes;
    }, 0);
    return got || event.size_bytes;
  }
  if (context.arrangement === "wire") return bytesOf(event);
  const { links } = context.ring;
  const answers = links.roundsOf(event).flatMap((round) => links.answerOf(round) ?? []);
  if (answers.length === 0) return bytesOf(event);
  return answers.reduce((sum, answer) => sum + bytesOf(answer), 0);
}

/** Seconds from the first request to the last answer; null while it lasts, and where none is. */
export function elapsedOf(event: EventView, context: RowContext): number | null {
  const { ring, arrangement } = context;
  if (arrangement !== "wire" && ring.links.isAsking(event)) return null;
  if (arrangement === "wire") return event.status === "request" ? null : durationOf(event, ring);
  if (isExchange(event, context)) {
    const end = endOf(event, context);
    return end ? durationOf(end, ring) : null;
  }
  const { links } = ring;
  const last = links.lastRoundOf(event);
  if (last === event) return durationOf(event, ring);
  const elapsed_s = durationOf(last, ring);
  return elapsed_s === null ? null : last.mono - event.mono + elapsed_s;
}

export function isPendingRow(event: EventView, context: RowContext): boolean {
  const { links } = context.ring;
  if (isExchange(event, context))
    // A stream that is open is not waited for.
    return !links.responseIn(event.exchange_id) && endOf(event, context) === undefined;
  if (event.kind === "QuestionOpened") return links.isAsking(event);
  return links.isPending(links.lastRoundOf(event)) || links.isAsking(event);
}

/** What a row is about: the method of a message, the words for any other event. */
export const nameOf = (event: EventView, context: RowContext): string =>
  context.arrangement !== "wire" && event.kind === "QuestionOpened" && event.method
    ? event.method
    : eventLabel(event);

/** The item that the request names, also in the row of its answer. */
export function calledOf(event: EventView, { ring }: RowContext): string | null {
  const asked = isReply(event) ? (ring.links.requestOf(event) ?? event) : event;
  return targetOf(asked);
}

/** The message of ours that an exchange carries; of an event in a stream, that message. */
export function messageOf(event: EventView, { ring }: RowContext): EventView | undefined {
  return isHttp(event) ? ring.links.sentIn(event.exchange_id) : event;
}

/** Arguments, an arrow, and what came back; why it failed comes first, since the end may be cut. */
export function previewOfRow(event: EventView, context: RowContext): string {
  const asked = messageOf(event, context);
  if (context.arrangement === "http") return asked ? previewOf(asked) : "";
  const own = previewOf(event);
  // Why it cannot be read is told once: here.
  if (event.malformed) return own ? `${own} — ${event.malformed}` : event.malformed;
  const hop = context.ring.links.hopOf(event);
  const end = event.status === "request" ? endOf(hop ?? event, context) : undefined;
  const back = end ? previewOf(end) : "";
  if (!own || !back) return own || back;
  return toneOfRow(event, context) === "bad" ? `${back} ← ${own}` : `${own} → ${back}`;
}

/** Row background: what failed stands out. */
export function toneOfRow(event: EventView, context: RowContext): string | undefined {
  const { tone } = statusOf(event, context);
  return tone === "bad" ? "bad" : event.kind === "LateReply" ? "wait" : undefined;
}
