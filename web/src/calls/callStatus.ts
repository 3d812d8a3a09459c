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

export function callStatus(call: CallView): { word: string; tone: string } {
  // Its own answer was an error, though the call itself went well.
  if (call.status === "completed" && call.is_error)
    return { word: call.kind === "raw" ? "Error reply" : "Tool error", tone: "red" };
  if (call.status === "completed" && call.kind === "raw" && call.result_size_bytes === 0)
    return { word: "Sent, no reply", tone: "gray" };
  if (call.is_waiting_on_user) return { word: "Waits for you", tone: "orange" };
  return { word: WORDS[call.status], tone: TONES[call.status] };
}

/** Whether a finding says so: others are about the message that brought the result. */
const isBreach = (findings: string[]): boolean =>
  findings.some((finding) => finding.includes("breaks the output schema"));
const isUnused = (finding: string): boolean =>
  /^the output schema of .* was not used/s.test(finding);

/** How structured content stands to the tool's output schema. */
export function schemaConformance(
  call: CallView,
  hasSchema: boolean,
): { word: string; tone: string } {
  if (isBreach(call.findings)) return { word: "breaks the output schema", tone: "red" };
  if (!hasSchema) return { word: "no output schema", tone: "gray" };
  // An error need not fit, so that nobody looked.
  if (call.is_error || call.findings.some(isUnused))
    return { word: "not checked by the output schema", tone: "gray" };
  return { word: "fits the output schema", tone: "green" };
}

/** What is wrong with the result of a call that went well, in a few words; null if nothing is. */
export function findingsSummary({ status, findings }: CallView): string | null {
  if (status !== "completed" || findings.length === 0) return null;
  if (isBreach(findings)) return "does not fit the output schema";
  return findings.length === 1 ? "1 finding" : `${findings.length} findings`;
}

export const isRunning = (call: CallView): boolean =>
  call.status === "pending" || call.status === "in_progress";
