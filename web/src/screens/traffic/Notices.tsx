// What is to be said above the rows: where they come from, and which of them are not shown.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { EventView } from "../../api/types";
import { clock, counted } from "../../parts/format";
import { telling } from "../../state/actions";
import { type Gap, useRing } from "../../state/events";
import { fillGap, type Older } from "../../state/older";
import type { Recorded } from "../../state/recorded";
import { describe } from "./describe";

interface LineProps {
  children: ReactNode;
  button: string;
  isBusy?: boolean;
  onClick(): void;
}

export function Line({ children, button, isBusy, onClick }: LineProps) {
  return (
    <div className="toolbar">
      <span className="cut" role="status">
        {children}
      </span>
      <Button variant="default" size="compact-xs" loading={isBusy} onClick={onClick}>
        {button}
      </Button>
    </div>
  );
}

/** What a slow browser was not sent. */
function Missed({ runId }: { runId: string }) {
  const ring = useRing();
  const [isBusy, setBusy] = useState(false);
  const { gaps } = ring;
  const fill = async (): Promise<void> => {
    setBusy(true);
    const work = async (): Promise<void> => {
      for (const gap of gaps) await fillGap(ring, runId, gap);
    };
    await telling("They could not be loaded", work());
    setBusy(false);
  };
  if (!gaps.length) return null;
  const count = gaps.reduce((sum, gap: Gap) => sum + gap.last_seq - gap.first_seq + 1, 0);
  return (
    <Line button="Load them from the recording" isBusy={isBusy} onClick={() => void fill()}>
      {counted(count, "event was", "events were")} not sent to this page: it was too slow for them.
    </Line>
  );
}

interface Props {
  runId: string | null;
  recorded: Recorded;
  older: Older;
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
  const { ring, isLoading, problem } = recorded;
  const first = ring.items[0];
  const isFull = ring.items.length >= ring.capacity && first !== undefined && first.seq > 1;
  return (
    <>
      {(isLoading || older.isLoading) && (
        <div className="toolbar dim" role="status">
          Reading the recording…
        </div>
      )}
      {problem && <div className="toolbar">{problem}</div>}
      {older.problem && (
        <div className="toolbar">What is older cannot be shown: {older.problem}</div>
      )}
      {props.problem && <div className="toolbar">{props.problem}</div>}
      {runId !== null && <Missed runId={runId} />}
      {isFull && (
        <div className="toolbar dim">
          The {counted(first.seq - 1, "oldest event is", "oldest events are")} not listed; an export
          has them.
        </div>
      )}
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
          Comparing with {describe(base)} {base.request_id} of {clock(base.wall)}
          {props.isOnlyBase && ": choose another row, of another run if you like"}
        </Line>
      )}
    </>
  );
}
