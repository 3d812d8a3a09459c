// How a call stands, in a word and a colour, the same everywhere.
import type { CallView } from "../api/types";

const TONES: Record<CallView["status"], string> = {
  pending: "gray",
  in_progress: "yellow",
  completed: "green",
  cancelled: "gray",
  error: "red",
};
const WORDS: Record<CallView["status"], string> = {
  pending: "Waiting its turn",
  in_progress: "Running",
  completed: "Done",
  cancelled: "Cancelled",
  error: "Failed",
};

export function statusOf(call: CallView): { word: string; tone: string } {
  // Its own answer was an error, though the call itself went well.
  if (call.status === "completed" && call.is_error)
    return { word: call.kind === "raw" ? "Error reply" : "Tool error", tone: "red" };
  if (call.status === "completed" && call.kind === "raw" && call.result_size_bytes === 0)
    return { word: "Sent, no reply", tone: "gray" };
  if (call.is_waiting_on_user) return { word: "Waits for you", tone: "orange" };
  return { word: WORDS[call.status], tone: TONES[call.status] };
}

/** What is wrong with the result of a call that went well, in a few words; null if nothing is. */
export function misfitOf({ status, findings }: CallView): string | null {
  if (status !== "completed" || findings.length === 0) return null;
  if (findings.some((finding) => finding.includes("breaks the output schema")))
    return "does not fit the output schema";
  return findings.length === 1 ? "1 finding" : `${findings.length} findings`;
}
