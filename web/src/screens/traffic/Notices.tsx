// What is to be said above the rows: where they come from, and which of them are not shown.
import type { EventView } from "../../api/types";
import { Lacking, Line, ReadFrom } from "../../events/Lacking";
import type { BackfillState } from "../../state/backfill";
import type { RecordedRun } from "../../state/recordedRun";
import { formatTime } from "../../values/format";
import { describe } from "./describe";

interface Props {
  runId: string | null;
  recorded: RecordedRun;
  older: BackfillState;
  requestId: string | null;
  onAllIds(): void;
  base?: EventView;
  isOnlyBase: boolean;
  onStopComparing(): void;
  isCleared: boolean;
  onShowAgain(): void;
  problem?: string;
}

export function Notices(props: Props) {
  const { runId, recorded, older, requestId, base } = props;
  return (
    <>
      <ReadFrom recorded={recorded} />
      {props.problem && <div className="toolbar">{props.problem}</div>}
      <Lacking runId={runId} older={older} />
      {props.isCleared && (
        <Line button="Show them again" onClick={props.onShowAgain}>
          Earlier rows were cleared from this view.
        </Line>
      )}
      {requestId && (
        <Line button="Show all" onClick={props.onAllIds}>
          Only what has the id {requestId}
        </Line>
      )}
      {base && (
        <Line button="Stop comparing" onClick={props.onStopComparing}>
          Comparing with {describe(base)} {base.request_id} of {formatTime(base.wall)}
          {props.isOnlyBase && ": choose another row, of another run if you like"}
        </Line>
      )}
    </>
  );
}
