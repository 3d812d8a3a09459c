// Notices above the rows: loading state, hidden rows, active comparison.
import type { EventView } from "../../api/types";
import { LinkNotice } from "../../events/LinkNotice";
import { MissingEvents, NoticeLine, RecordedRunStatus } from "../../events/MissingEvents";
import { LiveRunNotices, RunSession } from "../../events/RunSession";
import type { BackfillState } from "../../state/backfill";
import type { LinkFilter } from "../../state/linkFilter";
import type { RecordedRun } from "../../state/recordedRun";
import { formatTime } from "../../values/format";
import { eventLabel } from "./eventLabel";

interface Props {
  runId: string | null;
  recorded: RecordedRun;
  backfill: BackfillState;
  link: LinkFilter | null;
  onAllLinks(): void;
  base?: EventView;
  isOnlyBase: boolean;
  onStopComparing(): void;
  isCleared: boolean;
  onShowAgain(): void;
  problem?: string;
  /** The run that the address names; null for the current one. */
  run: string | null;
  onRun(runId: string): void;
  /** Shows only what breaks the protocol. */
  onProblems(): void;
}

export function TrafficNotices(props: Props) {
  const { runId, recorded, backfill, link, base } = props;
  return (
    <>
      {props.run === null ? (
        <LiveRunNotices onFollow={props.onRun} />
      ) : (
        <RunSession runId={props.run} onProblems={props.onProblems} />
      )}
      <RecordedRunStatus recorded={recorded} />
      {props.problem && <div className="toolbar">{props.problem}</div>}
      <MissingEvents runId={runId} backfill={backfill} />
      {props.isCleared && (
        <NoticeLine button="Show them again" onClick={props.onShowAgain}>
          Earlier rows were cleared from this view.
        </NoticeLine>
      )}
      {link && <LinkNotice link={link} onAll={props.onAllLinks} />}
      {base && (
        <NoticeLine button="Stop comparing" onClick={props.onStopComparing}>
          Comparing with {eventLabel(base)} {base.request_id} of {formatTime(base.wall)}
          {props.isOnlyBase && ": choose another row, from any session"}
        </NoticeLine>
      )}
    </>
  );
}
