// Options of a call beside its arguments.
import { Collapse, Switch, Textarea, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Icon } from "../../components/Icon";
import { KeyValueFields } from "../../components/KeyValueFields";
import { NumberInput } from "../../components/NumberInput";

export interface Options {
  meta: string;
  headers: [string, string][];
  timeout_s: number | "";
  as_task: boolean;
}

export const NO_OPTIONS: Options = { meta: "", headers: [], timeout_s: "", as_task: false };

interface Props {
  value: Options;
  onChange(value: Options): void;
  taskSupport: string | undefined;
  /** Why calls cannot run as tasks; null if they can. */
  taskObstacle: string | null;
  isHttp: boolean;
}

export function CallOptions({ value, onChange, taskSupport, taskObstacle, isHttp }: Props) {
  const isUsed = value.meta !== "" || value.headers.length > 0 || value.timeout_s !== "";
  const [isOpen, { toggle }] = useDisclosure(isUsed);
  const set = (part: Partial<Options>): void => onChange({ ...value, ...part });
  const canTask = taskSupport === "optional" || taskSupport === "required";
  return (
    <div className="stack">
      {canTask && (
        <Switch
          label={
            taskSupport === "required" ? "Run as a task (required by this tool)" : "Run as a task"
          }
          description={
            taskObstacle && taskSupport === "required"
              ? `${taskObstacle} Send anyway calls it without a task.`
              : taskObstacle
          }
          checked={taskObstacle === null && (value.as_task || taskSupport === "required")}
          disabled={taskObstacle !== null || taskSupport === "required"}
          onChange={(event) => set({ as_task: event.currentTarget.checked })}
        />
      )}
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} className="disclosure">
        <Icon name={isOpen ? "down" : "chevron"} size={12} /> Options
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <div className="stack">
          <Textarea
            label="_meta"
            description="A JSON object sent with this call"
            autosize
            minRows={2}
            value={value.meta}
            onChange={(event) => set({ meta: event.currentTarget.value })}
            styles={{ input: { fontFamily: "var(--mono)" } }}
          />
          {isHttp && (
            <KeyValueFields
              label="Headers of this call"
              noun="header"
              value={value.headers}
              onChange={(headers) => set({ headers })}
            />
          )}
          <NumberInput
            label="Timeout, seconds"
            description="Empty: the server's default. 0: no limit"
            min={0}
            maw={260}
            value={value.timeout_s}
            onChange={(timeout_s) => set({ timeout_s })}
          />
        </div>
      </Collapse>
    </div>
  );
}
