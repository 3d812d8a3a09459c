// Tasks of both roles in one table: those the server runs for us, those we hold for it.
import { Button } from "@mantine/core";
import { useCallback, useMemo, useRef } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import type { ServerView, TaskView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { EmptyState } from "../../components/EmptyState";
import { Icon } from "../../components/Icon";
import { SplitPane } from "../../components/SplitPane";
import { useEscape } from "../../components/useEscape";
import { DisconnectedBanner } from "../../servers/DisconnectedBanner";
import { NotConnected } from "../../servers/NotConnected";
import { command } from "../../state/commands";
import { offers } from "../../state/lists";
import { pathTo, pathToTask, usePageLocation } from "../../state/navigation";
import { taskKey, useInspector } from "../../state/store";
import { withWaitingToast } from "../../state/toasts";
import { TaskDetail } from "./TaskDetail";
import { TaskTable } from "./TaskTable";
import { howToGetTasks, listObstacle } from "./task";

function useTasks(serverId: string): TaskView[] {
  const all = useInspector((state) => state.tasks);
  return useMemo(
    () =>
      [...all.values()]
        .filter((task) => task.server_id === serverId)
        .sort((one, other) => other.started - one.started),
    [all, serverId],
  );
}

/** The task that the address names. */
function useChosen(tasks: TaskView[]): TaskView | undefined {
  const { item } = usePageLocation();
  const [query] = useSearchParams();
  const role = query.get("role") ?? "client";
  const named = tasks.filter((task) => task.task_id === item);
  return named.find((task) => task.role === role) ?? named[0];
}

function FetchButton({ server }: { server: ServerView }) {
  const fetchTasks = (): void =>
    void withWaitingToast(
      `the tasks of ${server.server_id}`,
      "The tasks were not listed",
      command("ListTasks", { server_id: server.server_id }),
    );
  return (
    <ButtonWithReason
      variant="default"
      leftSection={<Icon name="refresh" size={13} />}
      disabledReason={listObstacle(server)}
      hint="Ask the server for its tasks"
      onClick={fetchTasks}
    >
      Fetch tasks
    </ButtonWithReason>
  );
}

function NoTasks({ server }: { server: ServerView }) {
  return (
    <EmptyState
      icon="tasks"
      title="No tasks"
      action={
        offers(server.capabilities, "tools") && (
          <Button component={Link} to={pathTo(server.server_id, "tools")}>
            Go to the tools
          </Button>
        )
      }
    >
      {howToGetTasks(server)}
    </EmptyState>
  );
}

export function Tasks() {
  const serverId = usePageLocation().server_id ?? "";
  const navigate = useNavigate();
  const place = useRef<HTMLDivElement>(null);
  const server = useInspector((state) => state.servers.get(serverId));
  const tasks = useTasks(serverId);
  const chosen = useChosen(tasks);
  const choose = useCallback((task: TaskView) => void navigate(pathToTask(task)), [navigate]);
  const close = (): void => {
    void navigate(pathTo(serverId, "tasks"));
    // Focus returns to the row, for keyboard users.
    for (const row of place.current?.querySelectorAll<HTMLElement>("[data-task]") ?? [])
      if (chosen && row.dataset.task === taskKey(chosen)) row.focus();
  };
  useEscape(chosen !== undefined, close);
  if (!server || (server.state !== "CONNECTED" && tasks.length === 0))
    return <NotConnected server={server} icon="tasks" />;
  return (
    <div className="pane" ref={place}>
      <DisconnectedBanner server={server} />
      <div className="toolbar">
        <h1 className="title">Tasks</h1>
        <span className="grow" />
        <FetchButton server={server} />
      </div>
      {tasks.length === 0 ? (
        <NoTasks server={server} />
      ) : (
        <SplitPane
          name="tasks"
          label="Size of the task"
          sized="second"
          initial={480}
          first={
            <div className="pane">
              <TaskTable tasks={tasks} chosen={chosen} onChoose={choose} />
            </div>
          }
          second={
            chosen ? (
              <TaskDetail key={taskKey(chosen)} task={chosen} server={server} onClose={close} />
            ) : null
          }
          narrow="second"
        />
      )}
    </div>
  );
}
