// Which of the calls of one tool, prompt or resource is looked at.
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

/** There from the first call on, so that the second does not move what is below. */
function Chooser({ calls, current, onChoose }: Props) {
  if (!calls.length) return null;
  return (
    <div className={css.calls}>
      <Select
        aria-label="Which call"
        className="grow"
        allowDeselect={false}
        // Hundreds of calls are in the document only while they are chosen from.
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
