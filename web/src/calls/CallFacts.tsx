// The facts of a call in one line: when, how it ended, how long it took, how large its result is.
import { Badge, Tooltip } from "@mantine/core";
import type { CallView } from "../api/types";
import { formatBytes, formatDuration, formatTime } from "../values/format";
import { CallChooser, type Choice } from "./CallChooser";
import css from "./CallPanel.module.css";
import { callStatus, findingsSummary } from "./callStatus";

// They are no buttons: a touch shows what they are.
const FACT_EVENTS = { hover: true, focus: false, touch: true };

export function StatusBadge({ call }: { call: CallView }) {
  const { word, tone } = callStatus(call);
  return <Badge color={tone}>{word}</Badge>;
}

export function CallFacts({ call, choice }: { call: CallView; choice?: Choice }) {
  const misfit = findingsSummary(call);
  return (
    <div className={css.facts}>
      <span className="dim">{formatTime(call.started, false)}</span>
      {/* The live region: changes only when the call does. */}
      <span className={css.status} role="status">
        <StatusBadge call={call} />
        {misfit && <Badge color="yellow">{misfit}</Badge>}
        {call.elapsed_s !== null && (
          <Tooltip
            label="Duration of the whole call; in Traffic, that of each of its requests"
            events={FACT_EVENTS}
          >
            <span className="dim">{formatDuration(call.elapsed_s)}</span>
          </Tooltip>
        )}
        {call.result_size_bytes > 0 && (
          <Tooltip
            label="Size of the result; in Traffic, that of the whole message"
            events={FACT_EVENTS}
          >
            <span className="dim">{formatBytes(call.result_size_bytes)}</span>
          </Tooltip>
        )}
      </span>
      {choice && <CallChooser {...choice} current={call} />}
    </div>
  );
}
