// The monitor beside any screen: traffic, logs, tasks and questions of this server, one line a row.
import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { useMemo } from "react";
import { useNavigate } from "react-router";
import type { EventView } from "../api/types";
import { clock } from "../parts/format";
import { Icon } from "../parts/icons";
import { RowList } from "../parts/RowList";
import { LogRow } from "../screens/logs/LogRow";
import { isLog } from "../screens/logs/levels";
import { EVERYTHING, wantedBy } from "../screens/traffic/filter";
import { TrafficRow, toneOf } from "../screens/traffic/TrafficRow";
import { useFiltered } from "../state/filtered";
import { usePreference } from "../state/remembered";
import { pathTo, useCurrentServer } from "../state/selection";
import { useInspector } from "../state/store";
import css from "./Dock.module.css";

type Part = "traffic" | "logs" | "tasks" | "questions";

interface Props {
  side: "right" | "bottom";
  onSide(side: "right" | "bottom"): void;
  onClose(): void;
}

function Rows({ part, serverId }: { part: "traffic" | "logs"; serverId: string | null }) {
  const navigate = useNavigate();
  const wanted = useMemo(() => {
    if (part === "traffic") return wantedBy(EVERYTHING, serverId);
    return (event: EventView) =>
      isLog(event) && (serverId === null || event.server_id === serverId);
  }, [part, serverId]);
  const { rows } = useFiltered(wanted);
  if (!rows.length)
    return (
      <p className={`dim ${css.none}`}>
        {part === "traffic" ? "No traffic yet." : "No log lines yet."}
      </p>
    );
  return (
    <RowList
      label={part === "traffic" ? "Traffic in the monitor" : "Logs in the monitor"}
      rows={rows}
      tone={part === "traffic" ? toneOf : undefined}
      onChoose={(event) =>
        void navigate(pathTo(event.server_id, part, part === "traffic" ? event.seq : undefined))
      }
      draw={(event) =>
        part === "traffic" ? (
          <TrafficRow event={event} withServer={false} />
        ) : (
          <LogRow event={event} withServer={false} />
        )
      }
    />
  );
}

function Things({ part, serverId }: { part: "tasks" | "questions"; serverId: string | null }) {
  const navigate = useNavigate();
  const tasks = useInspector((state) => state.tasks);
  const questions = useInspector((state) => state.questions);
  const lines =
    part === "tasks"
      ? [...tasks.values()].map((task) => ({
          key: `${task.role}${task.task_id}`,
          server: task.server_id,
          at: task.created,
          text: `${task.status} ${task.method}`,
          path: pathTo(task.server_id, "tasks"),
        }))
      : [...questions.values()].map((one) => ({
          key: one.question_id,
          server: one.server_id,
          at: one.opened,
          text: `${one.is_done ? (one.outcome ?? "done") : "waits"} ${one.method}`,
          path: `/questions/${encodeURIComponent(one.question_id)}`,
        }));
  const shown = lines.filter((line) => serverId === null || line.server === serverId);
  if (!shown.length)
    return <p className={`dim ${css.none}`}>{part === "tasks" ? "No tasks." : "No questions."}</p>;
  return (
    <div className="scroll">
      {shown.map((line) => (
        <button
          type="button"
          key={line.key}
          className={`plain ${css.line}`}
          onClick={() => void navigate(line.path)}
        >
          <span className="mono dim">{clock(line.at, false)}</span> {line.text}
        </button>
      ))}
    </div>
  );
}

export function Dock({ side, onSide, onClose }: Props) {
  const [part, setPart] = usePreference<Part>("dock.part", "traffic");
  const server = useCurrentServer();
  const serverId = server?.server_id ?? null;
  const other = side === "bottom" ? "right" : "bottom";
  return (
    <aside className="pane" aria-label="Monitor">
      <div className={css.bar}>
        <SegmentedControl
          aria-label="What the monitor shows"
          value={part}
          onChange={(next) => setPart(next as Part)}
          data={[
            { value: "traffic", label: "Traffic" },
            { value: "logs", label: "Logs" },
            { value: "tasks", label: "Tasks" },
            { value: "questions", label: "Questions" },
          ]}
        />
        <span className="grow" />
        <Tooltip label={other === "right" ? "Move to the right" : "Move to the bottom"}>
          <ActionIcon aria-label={`Move the monitor to the ${other}`} onClick={() => onSide(other)}>
            <Icon name={other === "right" ? "dockRight" : "dockBottom"} />
          </ActionIcon>
        </Tooltip>
        <ActionIcon aria-label="Close the monitor" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      {part === "traffic" || part === "logs" ? (
        <Rows part={part} serverId={serverId} />
      ) : (
        <Things part={part} serverId={serverId} />
      )}
    </aside>
  );
}
