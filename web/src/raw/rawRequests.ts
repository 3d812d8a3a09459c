import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import type { CallView, ErrorView, ServerView } from "../api/types";
import { startCall } from "../state/commands";
import { useOrigin } from "../state/navigation";
import type { RawMessage } from "../state/rawDraft";
import { useInspector } from "../state/store";
import { errorViewOf } from "../state/toasts";
import { parseJson } from "../values/json";

/** For stdio, line breaks in valid JSON are removed, since each line is a message. */
export function bytesToSend(text: string, isLine: boolean): string {
  if (!isLine || !text.includes("\n")) return text;
  return parseJson(text).ok ? text.replace(/\r?\n\s*/g, " ") : text;
}

/** Note about line breaks; null if they are sent as typed. */
export function lineBreakNote(text: string, isLine: boolean): string | null {
  if (!isLine || !text.includes("\n")) return null;
  return parseJson(text).ok
    ? "A stdio server reads one line as one message: line breaks become spaces."
    : "A stdio server reads each of these lines as a message.";
}

/** Whether the backend refused the message, and it may be sent anyway. */
export const isRefusedRequest = (error: ErrorView): boolean =>
  error.code === "INVALID_REQUEST" && Array.isArray(error.details.findings);

/** The calls of a server, newest first, and the raw call that the address names. */
export function useRawCalls(serverId: string) {
  const all = useInspector((state) => state.calls);
  const [query, setQuery] = useSearchParams();
  const origin = useOrigin();
  const calls = useMemo(
    () =>
      [...all.values()]
        .filter((call) => call.server_id === serverId)
        .sort((one, other) => other.started - one.started),
    [all, serverId],
  );
  const raw = calls.filter((call) => call.kind === "raw" || call.kind === "request");
  const wanted = query.get("call");
  return {
    calls,
    raw,
    current: raw.find((call) => call.call_id === wanted) ?? raw[0],
    // Of the state only this: what had to get the focus has it, or somebody is elsewhere by now.
    show: (callId: string) =>
      setQuery({ call: callId }, { replace: true, state: { from: origin } }),
  };
}

/** Sends a message as it is typed; `error` says why it was not sent. */
export function useRawRequest(
  server: ServerView,
  message: RawMessage,
  onSent: (id: string) => void,
) {
  const [error, setError] = useState<ErrorView | null>(null);
  const send = (force: boolean): void => {
    setError(null);
    startCall("SendRaw", {
      server_id: server.server_id,
      text: bytesToSend(message.text, server.url === null),
      headers: Object.fromEntries(message.headers.filter(([name]) => name.trim())),
      force,
    }).then(
      (call: CallView) => onSent(call.call_id),
      (thrown: unknown) => setError(errorViewOf(thrown)),
    );
  };
  return { error, send };
}
