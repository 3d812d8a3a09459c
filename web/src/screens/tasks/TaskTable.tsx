// Windowed table of a server's tasks in both roles, newest first.
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type Ref, useRef } from "react";
import type { CallView, TaskView } from "../../api/types";
import { taskKey, useInspector } from "../../state/store";
import { formatDuration, formatTime } from "../../values/format";
import { ElapsedTime, TaskProgress, TaskRequest, TaskState, TimeLeft } from "./TaskCells";
import css from "./Tasks.module.css";
import { runBy } from "./task";

// Typical height; each row is measured once it is rendered.
const ROW_HEIGHT = 30;
const COLUMNS = 9;

interface RowProps {
  task: TaskView;
  index: number;
  measure: Ref<HTMLTableRowElement>;
  call: CallView | undefined;
  isChosen: boolean;
  onChoose(task: TaskView): void;
}

const Row = memo(({ task, index, measure, call, isChosen, onChoose }: RowProps) => (
  <tr
    ref={measure}
    className={css.row}
    aria-rowindex={index + 2}
    data-index={index}
    data-chosen={isChosen}
    data-role={task.role}
  >
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
      <TaskRequest task={task} call={call} />
    </td>
    <td className={css.second}>
      <TaskProgress task={task} call={call} />
    </td>
    <td className={css.third}>{formatTime(task.created, false)}</td>
    <td>
      <ElapsedTime task={task} />
    </td>
    <td className={css.second}>
      <TimeLeft task={task} />
    </td>
    <td className={css.third}>
      {task.poll_interval_s === null ? "" : formatDuration(task.poll_interval_s)}
    </td>
  </tr>
));
Row.displayName = "Row";

/** Spacer for rows that are not rendered. */
const Spacer = ({ height }: { height: number }) =>
  height > 0 && (
    <tr aria-hidden>
      <td colSpan={COLUMNS} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );

interface Props {
  tasks: TaskView[];
  chosen: TaskView | undefined;
  onChoose(task: TaskView): void;
}

export function TaskTable({ tasks, chosen, onChoose }: Props) {
  const calls = useInspector((state) => state.calls);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    initialRect: { width: 300, height: 800 },
  });
  const rows = virtual.getVirtualItems();
  return (
    <div ref={scroller} className={`scroll ${css.table}`}>
      <table className="plain" aria-label="Tasks" aria-rowcount={tasks.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
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
          <Spacer height={rows[0]?.start ?? 0} />
          {rows.map(({ index }) => {
            const task = tasks[index];
            return (
              task && (
                <Row
                  key={taskKey(task)}
                  task={task}
                  index={index}
                  measure={virtual.measureElement}
                  call={calls.get(task.call_id ?? "")}
                  isChosen={task === chosen}
                  onChoose={onChoose}
                />
              )
            );
          })}
          <Spacer height={virtual.getTotalSize() - (rows.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}
