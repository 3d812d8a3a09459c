// State of a server as text.
import type { ExitView, RetryView, ServerView, State } from "../api/types";
import { formatDuration, formatTime, truncate } from "./format";

/** The displayed state of a server: its own, or that sign-in is required. */
export type DisplayState = State | "SIGN_IN";

const WORDS: Record<DisplayState, string> = {
  DISCONNECTED: "Disconnected",
  CONNECTING: "Connecting",
  CONNECTED: "Connected",
  DISCONNECTING: "Disconnecting",
  ERROR: "Failed",
  SIGN_IN: "Sign-in needed",
};

/** Failed, and waiting for an automatic retry. */
export const isRetrying = (server: ServerView): boolean =>
  server.state === "ERROR" && typeof server.retry?.at === "number";

const SIGN_IN_CODES = ["AUTHENTICATION_FAILED", "SIGN_IN_FAILED"];

/** Whether a sign-in waits for the person at the page. */
export const isPersonAwaited = ({ auth }: ServerView): boolean =>
  Boolean(auth && (auth.open_url !== null || auth.issuers.length > 0 || auth.paused !== null));

/** A disconnected server with an error is shown as failed. */
export function displayState(server: ServerView): DisplayState {
  if (server.state === "CONNECTING" && isPersonAwaited(server)) return "SIGN_IN";
  const isOff = server.state === "DISCONNECTED" || server.state === "ERROR";
  if (!isOff || server.error === null || isRetrying(server)) return server.state;
  return SIGN_IN_CODES.includes(server.error.code) ? "SIGN_IN" : "ERROR";
}

export const needsSignIn = (server: ServerView): boolean => displayState(server) === "SIGN_IN";

/** Number of the retry, counted the same everywhere. */
export const retryLabel = ({ count, most }: RetryView): string =>
  most === null ? String(count) : `${count} of ${most}`;

export function stateLabel(server: ServerView): string {
  const { state, retry } = server;
  if (retry && state === "CONNECTING") return `Connecting, retry ${retryLabel(retry)}`;
  if (retry && isRetrying(server)) return `Failed, retry ${retryLabel(retry)} scheduled`;
  return WORDS[displayState(server)];
}

/** Title of the failure that prevents a connection. */
export function failureTitle(server: ServerView): string {
  if (needsSignIn(server))
    return server.error?.code === "SIGN_IN_FAILED" ? "The sign-in failed" : "Sign-in needed";
  // A configuration error is the same before and after an attempt to connect.
  if (server.error && !server.problem) return "Connection Error";
  const { variable, is_local } = server.problem?.details ?? {};
  if (typeof variable === "string") return `The environment variable ${variable} is not set`;
  return is_local ? "A file is missing" : "Invalid configuration";
}

/** The step that is waited for. The backend says "opening the transport", "waiting for …". */
export const connectStepLabel = ({ waiting_for: step }: ServerView): string =>
  step ? `Waiting for ${step.replace(/^(waiting for|opening) /, "")}` : "Connecting";

/** What a server printed to stdout instead of messages, while it connects and when that failed. */
export function strayLines({ state, stray_lines, error }: ServerView): string[] {
  if (state === "CONNECTING") return stray_lines;
  if (state === "CONNECTED") return [];
  const quoted = error?.details.stdout;
  const lines = Array.isArray(quoted) ? quoted.filter((line) => typeof line === "string") : [];
  // The error says it where it quotes the only line.
  return lines.length === 1 && error?.message.includes(`'${lines[0]}'`) ? [] : lines;
}

/** How a process ended, with its verb. */
export function exitText(exit: ExitView): string {
  if (exit.stopped_after_s !== null) {
    return `was stopped by mcplens after ${formatDuration(exit.stopped_after_s)}`;
  }
  return exit.signal
    ? `was terminated by ${exit.signal}`
    : `ended with exit code ${exit.exit_code ?? "unknown"}`;
}

function endText({ exit, error, since }: ServerView): string {
  const at = formatTime(exit?.at ?? since, false);
  if (exit) return `${exitText(exit)} at ${at}`;
  if (error) return `failed at ${at}: ${truncate(error.message, 140)}`;
  return `has been disconnected since ${at}`;
}

/** What happened to a disconnected server: one sentence without the full stop. */
export function disconnectedText(server: ServerView, name: string): string {
  const isUnderWay = server.state === "CONNECTING" || isRetrying(server);
  if (!isUnderWay) return `${name} ${endText(server)}`;
  const { retry } = server;
  const attempt = retry ? `retry ${retryLabel(retry)}` : "a new attempt";
  const next = `${attempt} ${isRetrying(server) ? "is scheduled" : "is in progress"}`;
  // While it connects, `since` is not when it ended.
  return server.exit || isRetrying(server)
    ? `${name} ${endText(server)}; ${next}`
    : `${name} is being connected`;
}
