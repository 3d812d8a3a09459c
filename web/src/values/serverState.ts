// How a server stands, in words.
import type { RetryView, ServerView, State } from "../api/types";
import { formatTime, truncate } from "./format";

/** What is shown of a server: its state, or that somebody has to sign in. */
export type DisplayState = State | "SIGN_IN";

const WORDS: Record<DisplayState, string> = {
  DISCONNECTED: "Disconnected",
  CONNECTING: "Connecting",
  CONNECTED: "Connected",
  DISCONNECTING: "Disconnecting",
  ERROR: "Failed",
  SIGN_IN: "Sign-in needed",
};

/** Between two attempts: it failed, and tries again by itself. */
export const isRetrying = (server: ServerView): boolean =>
  server.state === "ERROR" && typeof server.retry?.at === "number";

/** A connection that was given up because of an error has failed, whatever it is called. */
export function displayState(server: ServerView): DisplayState {
  const isOff = server.state === "DISCONNECTED" || server.state === "ERROR";
  if (!isOff || server.error === null || isRetrying(server)) return server.state;
  return server.error.code === "AUTHENTICATION_FAILED" ? "SIGN_IN" : "ERROR";
}

export const needsSignIn = (server: ServerView): boolean => displayState(server) === "SIGN_IN";

/** Which of the attempts that follow the first; counted alike everywhere. */
export const retryLabel = ({ count, most }: RetryView): string => `${count} of ${most}`;

export function stateLabel(server: ServerView): string {
  const { state, retry } = server;
  if (retry && state === "CONNECTING") return `Connecting, retry ${retryLabel(retry)}`;
  if (retry && isRetrying(server)) return `Failed, retry ${retryLabel(retry)} follows`;
  return WORDS[displayState(server)];
}

/** What kind of failure it is that keeps a server from being connected. */
export function failureTitle(server: ServerView): string {
  if (needsSignIn(server)) return "Sign-in needed";
  // What stands in the file is as wrong before an attempt to connect as after it.
  if (server.error && !server.problem) return "Connection Error";
  const variable = server.problem?.details.variable;
  return typeof variable === "string"
    ? `The environment variable ${variable} is not set`
    : "It cannot be used like this";
}

/** What is being waited for. A step is told as "opening the transport", "waiting for …". */
export const connectStepLabel = ({ waiting_for: step }: ServerView): string =>
  step ? `Waiting for ${step.replace(/^(waiting for|opening) /, "")}` : "Connecting";

function endText({ exit, error, since }: ServerView): string {
  const at = formatTime(exit?.at ?? since, false);
  if (exit?.signal) return `was ended by ${exit.signal} at ${at}`;
  if (exit) return `ended with exit code ${exit.exit_code} at ${at}`;
  if (error) return `failed at ${at}: ${truncate(error.message, 140)}`;
  return `has not been connected since ${at}`;
}

/** What became of a server that is gone, as one sentence without its full stop. */
export function disconnectedText(server: ServerView, name: string): string {
  const isUnderWay = server.state === "CONNECTING" || isRetrying(server);
  if (!isUnderWay) return `${name} ${endText(server)}`;
  const { retry } = server;
  const attempt = retry ? `retry ${retryLabel(retry)}` : "a new attempt";
  const next = `${attempt} ${isRetrying(server) ? "follows" : "is under way"}`;
  // Since when it is being connected is not when it ended.
  return server.exit || isRetrying(server)
    ? `${name} ${endText(server)}; ${next}`
    : `${name} is being connected`;
}
