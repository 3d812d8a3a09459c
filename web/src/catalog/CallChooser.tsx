// Selects one of the calls of a tool, prompt or resource.
import { Select } from "@mantine/core";
import { memo } from "react";
import type { CallView } from "../api/types";
import { callStatus } from "../calls/callStatus";
import { formatTime, pluralize } from "../values/format";
import css from "./CallChooser.module.css";

const wordsOf = (call: CallView): string => {
  const id = call.request_id === null ? "" : ` · id ${call.request_id}`;
  return `${formatTime(call.started, false)} · ${callStatus(call).word}${id}`;
};

interface Props {
  calls: CallView[];
  current: CallView | null;
  onChoose(callId: string): void;
}

/** Shown from the first call on, so that the second call does not shift the layout. */
function Chooser({ calls, current, onChoose }: Props) {
  if (!calls.length) return null;
  return (
    <div className={css.calls}>
      <Select
        aria-label="Which call"
        className="grow"
        allowDeselect={false}
        // Hundreds of options are in the document only while the dropdown is open.
        comboboxProps={{ keepMounted: false }}
        data={calls.map((call) => ({ value: call.call_id, label: wordsOf(call) }))}
        value={current?.call_id ?? null}
        onChange={(id) => id && onChoose(id)}
      />
      <span className="dim">{pluralize(calls.length, "call")}</span>
    </div>
  );
}

export const CallChooser = memo(Chooser);
