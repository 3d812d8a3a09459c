import { useMemo } from "react";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { pathToTask, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import css from "./CallPanel.module.css";

/** Link to the task of a call, except on the Tasks screen. */
export function TaskLink({ call }: { call: CallView }) {
  const { screen } = usePageLocation();
  const tasks = useInspector((state) => state.tasks);
  const task = useMemo(
    // Tasks that we hold for the server are a different thing.
    () => [...tasks.values()].find((one) => one.role === "client" && one.call_id === call.call_id),
    [tasks, call.call_id],
  );
  if (!task || screen === "tasks") return null;
  return (
    <Link className={css.link} to={pathToTask(task)} title={task.task_id}>
      Task
    </Link>
  );
}
