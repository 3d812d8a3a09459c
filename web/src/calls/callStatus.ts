// Status of a call as a label and color, the same everywhere.
import type { CallView } from "../api/types";
import { visible } from "../values/hiddenCharacters";
import { rpcErrorOf } from "./useCallResult";

const TONES: Record<CallView["status"], string> = {
  pending: "gray",
  in_progress: "yellow",
  completed: "green",
  cancelled: "gray",
  error: "red",
};
const WORDS: Record<CallView["status"], string> = {
  pending: "Queued",
  in_progress: "Running",
  completed: "Done",
  cancelled: "Cancelled",
  error: "Failed",
};

// A JSON-RPC error; a call that failed otherwise had no answer that counts.
const ERROR_REPLY = "Error reply";

export function callStatus(call: CallView): { word: string; tone: string } {
  // The call succeeded, but the tool reported an error.
  if (call.status === "completed" && call.is_error)
    return {
      word: call.kind === "raw" && call.tool_error === null ? ERROR_REPLY : "Tool error",
      tone: "red",
    };
  if (call.status === "completed" && call.kind === "raw" && call.result_size_bytes === 0)
    return { word: "Sent, no reply", tone: "gray" };
  if (call.is_waiting_on_user) return { word: "Waiting for you", tone: "orange" };
  if (call.awaiting.length > 0) return { word: "Waiting for completion", tone: "yellow" };
  if (call.status === "error" && rpcErrorOf(call.error) !== null)
    return { word: ERROR_REPLY, tone: "red" };
  return { word: WORDS[call.status], tone: TONES[call.status] };
}

/** What a running call waits for. */
export function waitingFor(call: CallView): string {
  const hosts = [...new Set(call.awaiting.map(({ host, url }) => visible(host || url)))];
  if (call.is_waiting_on_user) return "Waiting for you";
  return hosts.length ? `Waiting for completion at ${hosts.join(", ")}` : "Waiting for the answer";
}

/** Whether structured content matches the tool's output schema. */
export function schemaConformance(
  call: CallView,
  hasSchema: boolean,
): { word: string; tone: string } {
  if (call.schema_verdict === "broken") return { word: "violates the output schema", tone: "red" };
  if (!hasSchema) return { word: "no output schema", tone: "gray" };
  // Error results are not checked.
  if (call.is_error || call.schema_verdict === "unused")
    return { word: "not checked against the output schema", tone: "gray" };
  return { word: "matches the output schema", tone: "green" };
}

/** Summary of the findings about a completed call; null if there are none. */
export function findingsSummary({ status, findings, schema_verdict }: CallView): string | null {
  if (status !== "completed" || findings.length === 0) return null;
  if (schema_verdict === "broken") return "does not match the output schema";
  return findings.length === 1 ? "1 finding" : `${findings.length} findings`;
}

export const isRunning = (call: CallView): boolean =>
  call.status === "pending" || call.status === "in_progress";
