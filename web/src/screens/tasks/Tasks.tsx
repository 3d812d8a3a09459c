// Tasks of both roles in one table: those the server runs for us, those we hold for it.
import { Badge, Button, Tooltip } from "@mantine/core";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { ServerView, TaskView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { Empty } from "../../parts/Empty";
import { clock, duration } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { JsonTree } from "../../parts/JsonTree";
import { NotConnected } from "../../parts/NotConnected";
import { Split } from "../../parts/Split";
import { useNow } from "../../parts/useNow";
import { telling } from "../../state/actions";
import { command, startCall } from "../../state/connection";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import css from "./Tasks.module.css";

const TONES: Record<string, string> = {
  working: "yellow",
  input_required: "orange",
  completed: "green",
  failed: "red",
  cancelled: "gray",
};
const isOver = (task: TaskView): boolean => task.is_over || task.is_gone;

function Row({
  task,
  now,
  isChosen,
  onChoose,
}: {
  task: TaskView;
  now: number;
  isChosen: boolean;
  onChoose(): void;
}) {
  const elapsed = (isOver(task) ? task.updated : now) - task.created;
  const left = task.expires === null ? null : task.expires - now;
  return (
    <tr className={css.row} data-chosen={isChosen}>
      <td>
        <Badge color={TONES[task.status] ?? "gray"}>
          {task.is_gone ? "gone" : task.status.replace("_", " ")}
        </Badge>
      </td>
      <td>
        <button type="button" className={`plain mono ${css.id}`} onClick={onChoose}>
          {task.task_id}
        </button>
      </td>
      <td className="wide-only">
        {task.role === "client" ? "the server, for us" : "us, for the server"}
      </td>
      <td className="mono">{task.method}</td>
      <td className="dim wide-only">{task.message}</td>
      <td className="wide-only">{clock(task.created, false)}</td>
      <td>{duration(Math.max(0, elapsed))}</td>
      <td className="wide-only">
        {left === null ? "no limit" : left > 0 ? duration(left) : "over"}
      </td>
    </tr>
  );
}

function Detail({ task, server }: { task: TaskView; server: ServerView }) {
  const calls = useInspector((state) => state.calls);
  const [callId, setCallId] = useState<string | null>(null);
  const call = calls.get(callId ?? task.call_id ?? "");
  const { server_id, task_id, role } = task;
  const ask = async (): Promise<void> => {
    const made = await telling(
      "The result was not fetched",
      startCall("GetTaskResult", { server_id, task_id, role }),
    );
    if (made) setCallId(made.call_id);
  };
  const isConnected = server.state === "CONNECTED";
  return (
    <div className="pane">
      <div className="toolbar">
        <strong className="mono cut grow">{task_id}</strong>
        <Button variant="default" disabled={!isConnected} onClick={() => void ask()}>
          Result
        </Button>
        <Button
          variant="default"
          disabled={!isConnected || isOver(task)}
          onClick={() =>
            void telling(
              "It was not cancelled",
              command("CancelTask", { server_id, task_id, role }),
            )
          }
        >
          Cancel
        </Button>
      </div>
      <div className="scroll pad">
        <div className="stack">
          <JsonTree value={task.task} label="Task" most={260} />
          {task.poll_interval_s !== null && (
            <span className="dim">Asked for every {duration(task.poll_interval_s)}</span>
          )}
          {call && <CallPanel call={call} />}
        </div>
      </div>
    </div>
  );
}

export function Tasks() {
  const { server: serverId = "", item } = useParams();
  const navigate = useNavigate();
  const server = useInspector((state) => state.servers.get(serverId));
  const all = useInspector((state) => state.tasks);
  const tasks = [...all.values()]
    .filter((task) => task.server_id === serverId)
    .sort((one, other) => other.created - one.created);
  const now = useNow(tasks.some((task) => !task.is_gone));
  if (!server || (server.state !== "CONNECTED" && tasks.length === 0))
    return <NotConnected server={server} icon="tasks" />;
  const chosen = tasks.find((task) => task.task_id === item);
  const canList = server.state === "CONNECTED" && typeof server.capabilities.tasks === "object";
  const table =
    tasks.length === 0 ? (
      <Empty icon="tasks" title="No tasks">
        {canList
          ? "Run a tool as a task, or fetch the tasks that this server has already."
          : "This server does not declare tasks. Tools that support them have a switch “Run as a task”."}
      </Empty>
    ) : (
      <div className="scroll">
        <table className="plain">
          <thead>
            <tr>
              <th>State</th>
              <th>Task</th>
              <th className="wide-only">Run by</th>
              <th>Request</th>
              <th className="wide-only">Message</th>
              <th className="wide-only">Created</th>
              <th>Elapsed</th>
              <th className="wide-only">Kept for</th>
            </tr>
          </thead>
          <tbody>
            {tasks.map((task) => (
              <Row
                key={`${task.role}${task.task_id}`}
                task={task}
                now={now}
                isChosen={task === chosen}
                onChoose={() => void navigate(pathTo(serverId, "tasks", task.task_id))}
              />
            ))}
          </tbody>
        </table>
      </div>
    );
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Tasks</h1>
        <span className="grow" />
        <Tooltip
          label={canList ? "Ask the server for its tasks" : "This server does not list tasks"}
        >
          <Button
            variant="default"
            leftSection={<Icon name="refresh" size={13} />}
            disabled={!canList}
            onClick={() =>
              void telling(
                "The tasks were not listed",
                command("ListTasks", { server_id: serverId }),
              )
            }
          >
            Fetch
          </Button>
        </Tooltip>
      </div>
      {chosen ? (
        <Split
          name="tasks"
          label="Size of the task"
          sized="second"
          initial={480}
          first={<div className="pane">{table}</div>}
          second={<Detail key={chosen.task_id} task={chosen} server={server} />}
          narrow="second"
        />
      ) : (
        table
      )}
    </div>
  );
}
