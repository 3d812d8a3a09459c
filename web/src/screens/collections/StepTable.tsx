// The calls of a collection in a table, with what the latest run gave.
import { ActionIcon, Badge, Menu, Tooltip } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { CollectionRunView, RunRowView, StepView } from "../../api/types";
import { ResultView } from "../../calls/ResultView";
import { Icon } from "../../components/Icon";
import { TextView } from "../../components/TextView";
import { UntrustedText } from "../../components/UntrustedText";
import { pathToCall } from "../../state/navigation";
import { useMuteCall } from "../../state/notifications";
import { useInspector } from "../../state/store";
import { indentJson } from "../../values/exactJson";
import { formatBytes, formatDuration, truncate } from "../../values/format";
import css from "./Collections.module.css";

// A line of the table.
const LONGEST = 160;
const COLUMNS = 7;

const STATUS: Record<RunRowView["status"], { word: string; color: string }> = {
  waiting: { word: "Next", color: "gray" },
  running: { word: "Running", color: "yellow" },
  done: { word: "Done", color: "green" },
  error: { word: "Failed", color: "red" },
  cancelled: { word: "Cancelled", color: "gray" },
  skipped: { word: "Not run", color: "gray" },
};

function Result({ step, row }: { step: StepView; row: RunRowView | undefined }) {
  const call = useInspector((state) => state.calls.get(row?.call_id ?? ""));
  // The table says that it failed.
  useMuteCall(row?.call_id ?? "");
  if (!row) return null;
  const isAsked = row.status === "running" && call?.is_waiting_on_user;
  const { word, color } = isAsked
    ? { word: "Waiting for you", color: "orange" }
    : STATUS[row.status];
  const badge = (
    <Badge color={color} className={css.status ?? ""}>
      {word}
    </Badge>
  );
  return (
    <span className="row">
      {call ? (
        <Link
          to={pathToCall(call)}
          className={css.status ?? ""}
          aria-label={`${word}: open the call of ${row.name}`}
        >
          {badge}
        </Link>
      ) : (
        badge
      )}
      {isAsked && call && <Link to={pathToCall(call)}>Answer</Link>}
      <span className={`cut ${css.preview} ${row.status === "error" ? "bad" : "mono"}`}>
        {row.text !== step.problem && <UntrustedText>{truncate(row.text, LONGEST)}</UntrustedText>}
      </span>
    </span>
  );
}

/** The arguments of a call, and all that its latest run gave. */
function StepDetails({ step, row }: { step: StepView; row: RunRowView | undefined }) {
  const call = useInspector((state) => state.calls.get(row?.call_id ?? ""));
  return (
    <tr>
      <td colSpan={COLUMNS}>
        <div className="stack tight">
          <h3 className="section-title">Arguments</h3>
          <TextView
            text={indentJson(step.arguments || "{}")}
            label={`Arguments of ${step.name}`}
            most={300}
            language="json"
          />
          {row && <h3 className="section-title">Result</h3>}
          {call?.status === "completed" ? (
            <ResultView call={call} />
          ) : (
            row && <UntrustedText>{row.text}</UntrustedText>
          )}
        </div>
      </td>
    </tr>
  );
}

interface RowProps {
  step: StepView;
  row: RunRowView | undefined;
  disabledReason: string | null;
  onRun(): void;
  onEdit(): void;
  onOpen(): void;
  onDelete(): void;
}

function StepRow({ step, row, disabledReason, onRun, onEdit, onOpen, onDelete }: RowProps) {
  const why = step.problem ?? disabledReason;
  const [isOpen, setOpen] = useState(false);
  const summary = (
    <tr>
      <td>
        <button
          type="button"
          className={`plain ${css.unfold} ${css.step}`}
          aria-expanded={isOpen}
          title="Show the arguments and the result"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "chevron"} size={12} />
          {step.name}
        </button>
        {step.description && <div className="dim">{step.description}</div>}
        {step.problem && (
          <div className="bad">
            Line {step.line}: {step.problem}
          </div>
        )}
      </td>
      <td className="mono">
        {step.target && (
          <span className="cut" title={step.arguments}>
            {step.kind === "call" ? "" : `${step.kind} `}
            {step.target}
          </span>
        )}
      </td>
      <td className="mono dim">{step.server_id}</td>
      <td className={css.result}>
        <Result step={step} row={row} />
      </td>
      <td className={css.number}>
        {typeof row?.elapsed_s === "number" && formatDuration(row.elapsed_s)}
      </td>
      <td className={css.number}>{row && row.size_bytes > 0 && formatBytes(row.size_bytes)}</td>
      <td className={css.actions}>
        <Tooltip label={why ?? "Run this call"}>
          <ActionIcon
            aria-label={`Run ${step.name}`}
            aria-disabled={why !== null}
            data-disabled={why !== null || undefined}
            onClick={() => why === null && onRun()}
          >
            <Icon name="play" size={13} />
          </ActionIcon>
        </Tooltip>
        <Menu position="bottom-end" width={180}>
          <Menu.Target>
            <ActionIcon aria-label={`More for ${step.name}`}>
              <Icon name="down" size={13} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={onEdit}>
              Edit
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="tools" size={14} />}
              disabled={step.kind !== "call" || step.server_id === null}
              onClick={onOpen}
            >
              Open in Tools
            </Menu.Item>
            {step.kind !== "call" && <Menu.Label>Only calls of tools open there</Menu.Label>}
            {step.kind === "call" && step.server_id === null && (
              <Menu.Label>It does not open: the call names no server</Menu.Label>
            )}
            <Menu.Divider />
            <Menu.Item
              leftSection={<Icon name="trash" size={14} />}
              c="var(--bad-ink)"
              onClick={onDelete}
            >
              Delete
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </td>
    </tr>
  );
  return (
    <>
      {summary}
      {isOpen && <StepDetails step={step} row={row} />}
    </>
  );
}

interface Props {
  steps: StepView[];
  run: CollectionRunView | null;
  /** Why nothing can be run now. */
  disabledReason: string | null;
  onRun(step: StepView): void;
  onEdit(step: StepView): void;
  onOpen(step: StepView): void;
  onDelete(step: StepView): void;
}

export function StepTable({ steps, run, disabledReason, ...act }: Props) {
  // The file may have changed since, so rows are found by name.
  const rows = new Map(run?.rows.map((row) => [row.name, row]));
  return (
    <table className={`plain stacking ${css.steps}`}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Calls</th>
          <th scope="col">Server</th>
          <th scope="col">Result</th>
          <th scope="col" className={css.number}>
            Time
          </th>
          <th scope="col" className={css.number}>
            Size
          </th>
          <th scope="col">
            <span className="sr">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <StepRow
            key={step.index}
            step={step}
            row={rows.get(step.name)}
            disabledReason={disabledReason}
            onRun={() => act.onRun(step)}
            onEdit={() => act.onEdit(step)}
            onOpen={() => act.onOpen(step)}
            onDelete={() => act.onDelete(step)}
          />
        ))}
      </tbody>
    </table>
  );
}
