// The state of a connection, as a dot and in words.
import type { ServerView, State } from "../api/types";
import css from "./StateDot.module.css";

const WORDS: Record<State, string> = {
  DISCONNECTED: "Disconnected",
  CONNECTING: "Connecting",
  CONNECTED: "Connected",
  DISCONNECTING: "Disconnecting",
  ERROR: "Failed",
};
const TONES: Record<State, string | undefined> = {
  DISCONNECTED: css.off,
  CONNECTING: css.wait,
  CONNECTED: css.good,
  DISCONNECTING: css.wait,
  ERROR: css.bad,
};

export const needsSignIn = (server: ServerView): boolean =>
  server.state === "ERROR" && server.error?.code === "AUTHENTICATION_FAILED";

/** A connection that was given up because of an error has failed, whatever it is called. */
export const shownState = (server: ServerView): State =>
  server.state === "DISCONNECTED" && server.error !== null ? "ERROR" : server.state;

export function stateWords(server: ServerView): string {
  if (needsSignIn(server)) return "Sign-in needed";
  if (server.state === "CONNECTING" && server.retry) {
    return `Connecting, attempt ${server.retry.count + 1} of ${server.retry.most + 1}`;
  }
  if (server.state === "ERROR" && typeof server.retry?.at === "number")
    return `Failed, attempt ${server.retry.count + 1} of ${server.retry.most + 1} follows`;
  return WORDS[shownState(server)];
}

export function StateDot({ state }: { state: State }) {
  return <span className={`${css.dot} ${TONES[state]}`} aria-hidden="true" />;
}
