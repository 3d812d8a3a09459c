import type { CallView } from "../api/types";

export const isRunning = (call: CallView): boolean =>
  call.status === "pending" || call.status === "in_progress";
