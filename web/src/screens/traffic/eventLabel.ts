// Labels of events, their direction, and the layer that each belongs to.
import type { EventView } from "../../api/types";
import { formatDuration, pluralize } from "../../values/format";

export type Direction = "out" | "in" | "none";

const OUT = new Set(["FrameSent", "HttpRequestSent", "InboundAnswered", "AppMessageSent"]);
const IN = new Set([
  "FrameReceived",
  "HttpResponseReceived",
  "HttpBytesReceived",
  "HttpExchangeEnded",
  "StderrLine",
  "InboundReceived",
  "AppMessageReceived",
]);
const HTTP = new Set([
  "HttpRequestSent",
  "HttpResponseReceived",
  "HttpBytesReceived",
  "HttpExchangeEnded",
]);
// Between a client and a server, and between an app and its host.
const MESSAGES = new Set(["FrameSent", "FrameReceived", "AppMessageReceived", "AppMessageSent"]);
// Of clients of the gateway; the message to the server that each becomes is counted.
const INBOUND = new Set(["InboundReceived", "InboundAnswered"]);
const CONNECTION = new Set([
  "ProcessStarted",
  "ProcessExited",
  "StateChanged",
  "EraDecided",
  "ClientIntroduced",
  "Remark",
  "ReplyUnmatched",
  "LateReply",
  "SubscriptionChanged",
  "SignInStarted",
  "SignInStepChanged",
  "SignInEnded",
  "ConfigurationReloaded",
  "StoreStateChanged",
  "EventsMissed",
  "StrayOutputDropped",
  "PingUnanswered",
  "InboundConnected",
  "InboundDisconnected",
  "AppOpened",
  "AppPolicyViolated",
]);

export type Layer = "messages" | "http" | "connection" | "everything";

/** Messages are shown with what happened to the connection between them. */
export function isInLayer(event: EventView, layer: Layer): boolean {
  if (layer === "everything") return true;
  if (layer === "http") return HTTP.has(event.kind);
  if (layer === "connection") return CONNECTION.has(event.kind);
  // A question within a result has no message of its own.
  const isAsked = event.kind === "QuestionOpened" && event.request_id === null;
  const { kind } = event;
  return isAsked || MESSAGES.has(kind) || INBOUND.has(kind) || CONNECTION.has(kind);
}

/** A message as they are counted; other events tell what happened to one or around it. */
export const isMessage = ({ kind }: EventView): boolean => MESSAGES.has(kind);

export function directionOf(event: EventView): Direction {
  if (OUT.has(event.kind)) return "out";
  return IN.has(event.kind) ? "in" : "none";
}

const text = (value: unknown): string =>
  value === undefined || value === null ? "" : String(value);

function outputDroppedLabel({ stdout_lines, stderr_lines }: EventView["detail"]): string {
  const count = (value: unknown): number => (typeof value === "number" ? value : 0);
  const lines = pluralize(count(stdout_lines) + count(stderr_lines), "line");
  return `${lines} of output not recorded`;
}

function exitLabel({ pid, signal, exit_code, stopped_after_s }: EventView["detail"]): string {
  const process = `process ${text(pid)}`;
  if (typeof stopped_after_s === "number") {
    return `${process} stopped by mcplens after ${formatDuration(stopped_after_s)}`;
  }
  return `${process} ended: ${signal ? text(signal) : `exit code ${text(exit_code)}`}`;
}

function clientName(info: unknown): string {
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  return `${text(name) || "without a name"} ${text(version)}`.trim();
}

/** Text that is no attempt at a message: a program wrote it where messages belong. */
export function isStray({ kind, status, detail, head }: EventView): boolean {
  if (kind !== "FrameReceived" || status !== "malformed") return false;
  const { is_reply_like } = (detail.malformed ?? {}) as { is_reply_like?: unknown };
  return is_reply_like !== true && !/^\s*[[{]/.test(head);
}

export interface LabelParts {
  /** May be long. */
  name: string;
  /** How a reply answers; empty for other events. */
  outcome: string;
}

function frameParts(event: EventView): LabelParts {
  const { method, status } = event;
  if (status === "malformed")
    return { name: isStray(event) ? "stray output" : "malformed message", outcome: "" };
  if (status === "batch") return { name: "batch", outcome: "" };
  if (status === "result" || status === "error")
    return { name: method ?? "", outcome: event.is_error ? "tool error" : status };
  return { name: method ?? text(status), outcome: "" };
}

/** The parts of an event's label. */
export function labelParts(event: EventView): LabelParts {
  switch (event.kind) {
    case "FrameSent":
    case "FrameReceived":
      return frameParts(event);
    case "AppMessageReceived":
    case "AppMessageSent": {
      const { name, outcome } = frameParts(event);
      return { name: `app: ${name}`.trimEnd(), outcome };
    }
    default:
      return { name: happeningLabel(event), outcome: "" };
  }
}

export function eventLabel(event: EventView): string {
  const { name, outcome } = labelParts(event);
  return [name, outcome].filter(Boolean).join(" ");
}

/** The label of what is no message. */
function happeningLabel(event: EventView): string {
  const { kind, method, status, detail } = event;
  switch (kind) {
    case "HttpRequestSent":
      return `${method ?? "HTTP"} ${text(detail.url)}`;
    case "HttpResponseReceived":
      return `HTTP ${text(status)} ${text(detail.reason)}`;
    case "HttpExchangeEnded":
      return detail.error ? `HTTP ended: ${text(detail.error)}` : "HTTP ended";
    case "StateChanged":
      return `${text(detail.old)} → ${text(detail.new)}`.toLowerCase();
    case "ProcessStarted":
      return `process ${text(detail.pid)} started`;
    case "ProcessExited":
      return exitLabel(detail);
    case "StrayOutputDropped":
      return outputDroppedLabel(detail);
    case "ConfigurationReloaded":
      return detail.error ? "configuration not reloaded" : "configuration reloaded";
    case "StoreStateChanged":
      return `shared store ${text(detail.status)}`;
    case "EraDecided":
      return `revision ${text(detail.protocol_version)}`;
    case "ClientIntroduced":
      return `client ${clientName(detail.client_info)}`;
    case "InboundReceived":
      return method ?? `client's ${text(status)}`;
    case "InboundAnswered":
      return `${text(method)} answered to ${text(detail.client_name)}`;
    case "InboundConnected":
      return `client ${clientName(detail.client_info)} connected`;
    case "InboundDisconnected":
      return `${text(detail.client_id)} left: ${text(detail.reason)}`;
    case "AppOpened":
      return `app ${text(detail.uri)} opened`;
    case "AppPolicyViolated":
      return `app: ${text(detail.directive)} blocked ${text(detail.blocked)}`.trim();
    case "SubscriptionChanged":
      return `subscription stream ${text(detail.state)}`;
    case "SignInStarted":
      return `sign-in: ${text(detail.reason)}`;
    case "SignInStepChanged":
      return `sign-in, ${text(detail.step).replace("_", " ")}: ${text(detail.text) || text(detail.state)}`;
    case "SignInEnded":
      return `sign-in ${text(detail.outcome).replace("signed_in", "done")}`;
    case "QuestionOpened":
      return method ? `${method} question` : "question";
    case "ReplyUnmatched":
      return "reply that matches no request";
    case "LateReply":
      return method ? `${method} late reply` : "late reply";
    case "Remark":
      return text(detail.message);
    default:
      return method ? `${kind} ${method}` : kind;
  }
}
