// Texts about a task: state, progress, time left, and why an action is not possible.
import type { CallView, ServerView, TaskView } from "../../api/types";
import { pathTo } from "../../state/navigation";
import { formatDuration } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";

// The tasks extension of 2026-07-28: the server decides which calls become tasks, and there is no
// list.
const EXTENSION = "io.modelcontextprotocol/tasks";

export const isOver = (task: TaskView): boolean => task.is_over || task.is_gone;

export const runBy = (task: TaskView): string =>
  task.role === "client" ? "the server" : "mcplens";

export const stateOf = (task: TaskView): string =>
  task.is_gone && !task.is_over ? "gone" : task.status.replace("_", " ");

/** Whole seconds while counting: fractions only flicker. */
const counting = (seconds: number): string =>
  seconds < 60 ? `${Math.floor(seconds)} s` : formatDuration(seconds);

export const elapsedOf = (task: TaskView, now: number): string =>
  task.ended !== null
    ? formatDuration(Math.max(0, task.ended - task.started))
    : counting(Math.max(0, now - task.started));

export function leftOf(task: TaskView, now: number): string {
  if (task.is_gone) return "gone";
  if (task.expires === null) return "no limit";
  const left = task.expires - now;
  return left > 0 ? counting(left) : "over";
}

export interface Progress {
  /** Percentage, if the total is known. */
  share: number | null;
  text: string;
}

/** The latest status message or progress of a task. */
export function progressOf(task: TaskView, call: CallView | undefined): Progress {
  const told = task.role === "client" ? call?.progress : null;
  const count = told ? `${told.progress}${told.total ? ` of ${told.total}` : ""}` : "";
  return {
    share: told?.total ? Math.min(100, (100 * told.progress) / told.total) : null,
    text: visible(task.message ?? told?.message ?? count),
  };
}

/** The events of the request that became a task. */
export const requestPath = (task: TaskView, screen: "traffic" | "logs"): string =>
  `${pathTo(task.server_id, screen)}?request=${task.request_seq}`;

type Offer = Pick<ServerView, "capabilities" | "state">;

const has = (value: unknown, key: string): boolean =>
  typeof value === "object" && value !== null && key in value;

const isExtension = ({ capabilities }: Offer): boolean => has(capabilities.extensions, EXTENSION);

const offersTasks = (server: Offer): boolean =>
  has(server.capabilities, "tasks") || isExtension(server);

/** Why something cannot be done, or null if it can. */
export function listObstacle(server: Offer): string | null {
  if (server.state !== "CONNECTED") return "Not connected";
  if (isExtension(server)) return "This revision of MCP has no list of tasks";
  return has(server.capabilities.tasks, "list") ? null : "This server does not declare tasks.list";
}

/** What to do where there are no tasks, or why there are none. */
export function howToGetTasks(server: Offer): string {
  if (!offersTasks(server))
    return "This server does not declare tasks. Tasks that it asks us to run appear here.";
  if (isExtension(server))
    return "Call a tool: this server decides which calls become tasks, and they appear here.";
  const call = "Call a tool with “Run as a task” switched on";
  const obstacle = listObstacle(server);
  return obstacle === null
    ? `${call}, or fetch the tasks that this server has already.`
    : `${call}. ${obstacle}, so tasks that it has already cannot be fetched.`;
}

export function cancelObstacle(server: Offer, task: TaskView): string | null {
  if (server.state !== "CONNECTED") return "Not connected";
  if (isOver(task)) return "The task is over";
  if (task.role === "receiver" || isExtension(server)) return null;
  return has(server.capabilities.tasks, "cancel")
    ? null
    : "This server does not declare tasks.cancel";
}
