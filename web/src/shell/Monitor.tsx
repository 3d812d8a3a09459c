// The monitor beside any screen: traffic, logs, tasks and questions of the current server, one line
// each.
import { ActionIcon, SegmentedControl, Tooltip } from "@mantine/core";
import { Icon } from "../components/Icon";
import { usePreference } from "../state/browserStorage";
import { useCurrentServer } from "../state/navigation";
import { useInspector } from "../state/store";
import css from "./Monitor.module.css";
import { MonitorLogs, MonitorTraffic } from "./MonitorEvents";
import { MonitorQuestions, MonitorTasks } from "./MonitorItems";

const PARTS = {
  traffic: MonitorTraffic,
  logs: MonitorLogs,
  tasks: MonitorTasks,
  questions: MonitorQuestions,
};
type Part = keyof typeof PARTS;

interface Props {
  side: "right" | "bottom";
  onSide(side: "right" | "bottom"): void;
  onClose(): void;
}

export function Monitor({ side, onSide, onClose }: Props) {
  const [part, setPart] = usePreference<Part>("monitor.part", "traffic");
  const serverId = useCurrentServer()?.server_id ?? null;
  const waiting = useInspector(
    (state) =>
      [...state.questions.values()].filter((one) => !one.is_done && one.server_id === serverId)
        .length,
  );
  const other = side === "bottom" ? "right" : "bottom";
  const Lines = PARTS[part];
  return (
    <aside className="pane" aria-label="Monitor">
      <div className={css.bar}>
        <SegmentedControl
          className={css.parts}
          aria-label="What the monitor shows"
          value={part}
          onChange={(next) => setPart(next as Part)}
          data={[
            { value: "traffic", label: "Traffic" },
            { value: "logs", label: "Logs" },
            { value: "tasks", label: "Tasks" },
            { value: "questions", label: waiting ? `Questions (${waiting})` : "Questions" },
          ]}
        />
        <span className="grow" />
        <Tooltip label={other === "right" ? "Move to the right" : "Move to the bottom"}>
          <ActionIcon aria-label={`Move the monitor to the ${other}`} onClick={() => onSide(other)}>
            <Icon name={other === "right" ? "panelRight" : "panelBottom"} />
          </ActionIcon>
        </Tooltip>
        <ActionIcon aria-label="Close the monitor" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <Lines serverId={serverId} />
    </aside>
  );
}
