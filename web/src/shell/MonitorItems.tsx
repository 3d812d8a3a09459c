// Tasks and questions in the monitor, newest first.
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { QuestionView, TaskView } from "../api/types";
import { ShowMore } from "../content/ShowMore";
import { progressOf, runBy, stateOf } from "../screens/tasks/task";
import { pathToQuestion, pathToTask } from "../state/navigation";
import { taskKey, useInspector } from "../state/store";
import { formatTime } from "../values/format";
import css from "./Monitor.module.css";

interface Line {
  key: string;
  at: number;
  to: string;
  state: string;
  children: ReactNode;
}

function Lines({ label, none, lines }: { label: string; none: string; lines: Line[] }) {
  if (!lines.length) return <p className={`dim ${css.none}`}>{none}</p>;
  return (
    <ul className={`scroll ${css.lines}`} aria-label={label}>
      <ShowMore
        items={lines.sort((one, other) => other.at - one.at)}
        noun="line"
        render={(line) => (
          <li key={line.key}>
            <Link to={line.to} className={`cut ${css.line}`}>
              <span className="mono dim">{formatTime(line.at, false)}</span>
              <strong className={css.state}>{line.state}</strong>
              {line.children}
            </Link>
          </li>
        )}
        wrapButton={(more) => <li className={css.line}>{more}</li>}
      />
    </ul>
  );
}

const isOf = (serverId: string | null) => (one: TaskView | QuestionView) =>
  serverId === null || one.server_id === serverId;

export function MonitorTasks({ serverId }: { serverId: string | null }) {
  const tasks = useInspector((state) => state.tasks);
  const calls = useInspector((state) => state.calls);
  const lines = [...tasks.values()].filter(isOf(serverId)).map((task): Line => {
    const call = calls.get(task.call_id ?? "");
    const { share, text } = progressOf(task, call);
    return {
      key: taskKey(task),
      at: task.started,
      to: pathToTask(task),
      state: stateOf(task),
      children: (
        <>
          <span className="mono">{call?.name || task.method}</span>
          <span className="dim">run by {runBy(task)}</span>
          {share !== null && <span>{Math.round(share)} %</span>}
          <span className="dim">{text}</span>
        </>
      ),
    };
  });
  return <Lines label="Tasks in the monitor" none="No tasks yet." lines={lines} />;
}

export function MonitorQuestions({ serverId }: { serverId: string | null }) {
  const questions = useInspector((state) => state.questions);
  const lines = [...questions.values()].filter(isOf(serverId)).map(
    (one): Line => ({
      key: one.question_id,
      at: one.opened,
      to: pathToQuestion(one),
      state: one.is_done ? (one.outcome ?? "done") : "waiting",
      children: <span className="mono">{one.method}</span>,
    }),
  );
  return <Lines label="Questions in the monitor" none="No questions yet." lines={lines} />;
}
