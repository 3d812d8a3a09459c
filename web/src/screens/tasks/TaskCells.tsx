// Cells that the table and the details of a task share.
import { Badge, Progress } from "@mantine/core";
import { Link } from "react-router";
import type { CallView, TaskView } from "../../api/types";
import { useNow } from "../../components/useNow";
import { pathToCall } from "../../state/navigation";
import css from "./Tasks.module.css";
import { elapsedOf, isOver, leftOf, progressOf, requestPath, stateOf } from "./task";

const TONES: Record<string, string> = {
  working: "yellow",
  "input required": "orange",
  completed: "green",
  failed: "red",
};

export function TaskState({ task }: { task: TaskView }) {
  const state = stateOf(task);
  return (
    <Badge className={css.state} color={TONES[state] ?? "gray"}>
      {state}
    </Badge>
  );
}

export function ElapsedTime({ task }: { task: TaskView }) {
  return <span className={css.count}>{elapsedOf(task, useNow(!isOver(task)))}</span>;
}

export function TimeLeft({ task }: { task: TaskView }) {
  const now = useNow(task.expires !== null && !task.is_gone);
  return <span className={css.count}>{leftOf(task, now)}</span>;
}

export function TaskProgress({ task, call }: { task: TaskView; call: CallView | undefined }) {
  const { share, text } = progressOf(task, call);
  const isShown = share !== null && !isOver(task);
  return (
    <div className={css.far}>
      {isShown && (
        <Progress value={share} size="sm" aria-label={`Progress of the task ${task.task_id}`} />
      )}
      <span className="dim cut" title={text}>
        {isShown ? `${Math.round(share)} % · ` : ""}
        {text}
      </span>
    </div>
  );
}

/** The request of a task, and the call that it belongs to. */
export function TaskRequest({ task, call }: { task: TaskView; call: CallView | undefined }) {
  return (
    <span className={css.related}>
      {/* What the server runs is a call of a tool, which its name says. */}
      {!(call && task.role === "client") && (
        <span className="mono">{task.method || "unknown"}</span>
      )}
      {call && (
        <span>
          {task.role === "receiver" && <span className="dim">during </span>}
          <Link to={pathToCall(call)}>{call.name || call.method}</Link>
        </span>
      )}
      {task.request_seq !== null && <Link to={requestPath(task, "traffic")}>Messages</Link>}
    </span>
  );
}
