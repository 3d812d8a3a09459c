// The tasks of a server in both roles, newest first.
import { memo } from "react";
import type { CallView, TaskView } from "../../api/types";
import { clock, duration } from "../../parts/format";
import { taskKey, useInspector } from "../../state/store";
import { Elapsed, HowFar, Left, Related, TaskState } from "./cells";
import css from "./Tasks.module.css";
import { runBy } from "./task";

interface RowProps {
  task: TaskView;
  call: CallView | undefined;
  isChosen: boolean;
  onChoose(task: TaskView): void;
}

const Row = memo(({ task, call, isChosen, onChoose }: RowProps) => (
  <tr className={css.row} data-chosen={isChosen} data-role={task.role}>
    <td>
      <TaskState task={task} />
    </td>
    <td>
      <button
        type="button"
        className={`plain mono cut ${css.id}`}
        title={task.task_id}
        aria-pressed={isChosen}
        data-task={taskKey(task)}
        onClick={() => onChoose(task)}
      >
        {task.task_id}
      </button>
    </td>
    <td className={`${css.second} ${css.by}`}>{runBy(task)}</td>
    <td>
      <Related task={task} call={call} />
    </td>
    <td className={css.second}>
      <HowFar task={task} call={call} />
    </td>
    <td className={css.third}>{clock(task.created, false)}</td>
    <td>
      <Elapsed task={task} />
    </td>
    <td className={css.second}>
      <Left task={task} />
    </td>
    <td className={css.third}>
      {task.poll_interval_s === null ? "" : duration(task.poll_interval_s)}
    </td>
  </tr>
));
Row.displayName = "Row";

interface Props {
  tasks: TaskView[];
  chosen: TaskView | undefined;
  onChoose(task: TaskView): void;
}

export function TaskTable({ tasks, chosen, onChoose }: Props) {
  const calls = useInspector((state) => state.calls);
  return (
    <div className={`scroll ${css.table}`}>
      <table className="plain" aria-label="Tasks">
        <thead>
          <tr>
            <th>State</th>
            <th>Task</th>
            <th className={css.second}>Run by</th>
            <th>Request</th>
            <th className={css.second}>Progress</th>
            <th className={css.third}>Created</th>
            <th>Elapsed</th>
            <th className={css.second}>TTL left</th>
            <th className={css.third}>Polled every</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <Row
              key={taskKey(task)}
              task={task}
              call={calls.get(task.call_id ?? "")}
              isChosen={task === chosen}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
