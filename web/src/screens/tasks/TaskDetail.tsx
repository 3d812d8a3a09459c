// Details of a task: facts, result, cancel.
import { ActionIcon } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import type { CallView, ServerView, TaskView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { UntrustedText } from "../../components/UntrustedText";
import { command, startCall } from "../../state/commands";
import { pathToQuestion } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { withErrorToast, withWaitingToast } from "../../state/toasts";
import { formatDateTime, formatDuration } from "../../values/format";
import { ElapsedTime, TaskProgress, TaskRequest, TaskState, TimeLeft } from "./TaskCells";
import css from "./Tasks.module.css";
import { cancelObstacle, requestPath, runBy } from "./task";

const TaskId = ({ task }: { task: TaskView }) => (
  <span className="mono" style={{ overflowWrap: "anywhere" }}>
    {task.task_id}
  </span>
);

interface FactsProps {
  task: TaskView;
  call: CallView | undefined;
  /** Whether the panel of a call is below. */
  isShown: boolean;
}

function Facts({ task, call, isShown }: FactsProps) {
  const question = useInspector((state) => state.questions.get(task.question_id ?? ""));
  const progress: [string, ReactNode] = [
    "Progress",
    <TaskProgress key="progress" task={task} call={call} />,
  ];
  const facts: [string, ReactNode][] = [
    ["State", <TaskState key="state" task={task} />],
    ["Task ID", <TaskId key="id" task={task} />],
    ["Run by", runBy(task)],
    ["Request", <TaskRequest key="request" task={task} call={call} />],
    // That of our own call is shown below.
    ...(isShown ? [] : [progress]),
    ["Created", formatDateTime(task.created)],
    ["Elapsed", <ElapsedTime key="elapsed" task={task} />],
    ["TTL left", <TimeLeft key="left" task={task} />],
    [
      "Polled every",
      task.poll_interval_s === null ? "not specified" : formatDuration(task.poll_interval_s),
    ],
  ];
  return (
    <div className="stack">
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="row wrap">
        {question && !question.is_done && (
          <Link to={pathToQuestion(question)}>Answer its question</Link>
        )}
        {task.request_seq !== null && <Link to={requestPath(task, "logs")}>Log lines</Link>}
      </div>
    </div>
  );
}

interface Props {
  task: TaskView;
  server: ServerView;
  onClose(): void;
}

export function TaskDetail({ task, server, onClose }: Props) {
  const calls = useInspector((state) => state.calls);
  const [askedId, setAskedId] = useState<string | null>(null);
  const { server_id, task_id, role } = task;
  const related = calls.get(task.call_id ?? "");
  // For a task that we hold, the related call is only the one during which we were asked.
  const call = calls.get(askedId ?? "") ?? (role === "client" ? related : undefined);
  const ask = async (): Promise<void> => {
    const made = await withErrorToast(
      "The result was not fetched",
      startCall("GetTaskResult", { server_id, task_id, role }),
    );
    if (made) setAskedId(made.call_id);
  };
  const cancel = (): void =>
    void withWaitingToast(
      "the task to be cancelled",
      "The task could not be cancelled",
      command("CancelTask", { server_id, task_id, role }),
    );
  return (
    <section className="pane" aria-label="Task">
      <div className="toolbar">
        <strong className={`mono cut ${css.name}`}>
          <UntrustedText>
            {(role === "client" && related?.name) || task.method || task_id}
          </UntrustedText>
        </strong>
        <ButtonWithReason
          variant="default"
          disabledReason={server.state === "CONNECTED" ? null : "Not connected"}
          onClick={() => void ask()}
        >
          Result
        </ButtonWithReason>
        <ButtonWithReason
          variant="default"
          disabledReason={cancelObstacle(server, task)}
          onClick={cancel}
        >
          Cancel the task
        </ButtonWithReason>
        <ActionIcon aria-label="Close the task" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <div className="scroll">
        <div className="stack pad">
          <Facts task={task} call={related} isShown={call !== undefined} />
          <details>
            <summary className="dim">As the server sent it</summary>
            <JsonTree value={task.task} label="Task" most={260} />
          </details>
        </div>
        {call && (
          <div className={css.call}>
            <CallPanel call={call} onRepeated={setAskedId} />
          </div>
        )}
      </div>
    </section>
  );
}
