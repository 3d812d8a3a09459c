// Which of the calls of one tool, prompt or resource is looked at.
import { Select } from "@mantine/core";
import type { CallView } from "../../api/types";
import { clock } from "../../parts/format";
import css from "./CallChooser.module.css";

const wordsOf = (call: CallView): string => {
  const id = call.request_id === null ? "" : ` · id ${call.request_id}`;
  return `${clock(call.started, false)} · ${call.status.replace("_", " ")}${id}`;
};

interface Props {
  calls: CallView[];
  current: CallView | null;
  onChoose(callId: string): void;
}

export function CallChooser({ calls, current, onChoose }: Props) {
  if (calls.length < 2) return null;
  return (
    <div className={css.calls}>
      <Select
        aria-label="Which call"
        className="grow"
        allowDeselect={false}
        data={calls.map((call) => ({ value: call.call_id, label: wordsOf(call) }))}
        value={current?.call_id ?? null}
        onChange={(id) => id && onChoose(id)}
      />
      <span className="dim">{calls.length} calls</span>
    </div>
  );
}
