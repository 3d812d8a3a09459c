// Notices about events of a run that the page has not loaded, for Traffic, Logs and the monitor.
import { Button } from "@mantine/core";
import { type ReactNode, useSyncExternalStore } from "react";
import { type BackfillState, useGaps } from "../state/backfill";
import { type Gap, useRing } from "../state/events";
import type { RecordedRun } from "../state/recordedRun";
import { withErrorToast } from "../state/toasts";
import { pluralize } from "../values/format";

interface LineProps {
  children: ReactNode;
  button: string;
  isBusy?: boolean;
  onClick(): void;
}

export function NoticeLine({ children, button, isBusy, onClick }: LineProps) {
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

const ReadingNotice = () => (
  <div className="toolbar dim" role="status">
    Reading the recording…
  </div>
);

/** Loading state of a recorded run. */
export function RecordedRunStatus({ recorded }: { recorded: RecordedRun }) {
  const { ring, isLoading, problem, isCut } = recorded;
  return (
    <>
      {isLoading && <ReadingNotice />}
      {problem && <div className="toolbar">{problem}</div>}
      {isCut && (
        <div className="toolbar dim" role="status">
          Only the first {pluralize(ring.items.length, "event")} of this session are listed; an
          export has all of them.
        </div>
      )}
    </>
  );
}

/** Events that were not sent because the browser was too slow. */
function SkippedEvents({ runId }: { runId: string }) {
  const { gaps, isBusy, fill: work } = useGaps(useRing(), runId);
  const fill = (): void => void withErrorToast("The events could not be loaded", work());
  if (!gaps.length) return null;
  const count = gaps.reduce((sum, gap: Gap) => sum + gap.last_seq - gap.first_seq + 1, 0);
  return (
    <NoticeLine button="Load them from the recording" isBusy={isBusy} onClick={fill}>
      {pluralize(count, "event was", "events were")} not sent to this page because it was too slow.
    </NoticeLine>
  );
}

/** Events that were dropped because the ring is full. */
function DroppedEvents() {
  const ring = useRing();
  const count = useSyncExternalStore(ring.subscribe, () => {
    const isFull = ring.items.length >= ring.capacity;
    return isFull ? (ring.items[0]?.seq ?? 1) - 1 : 0;
  });
  if (count === 0) return null;
  return (
    <div className="toolbar dim">
      The {pluralize(count, "oldest event is", "oldest events are")} not listed; an export has them.
    </div>
  );
}

export function MissingEvents({
  runId,
  backfill,
}: {
  runId: string | null;
  backfill: BackfillState;
}) {
  return (
    <>
      {backfill.isLoading && <ReadingNotice />}
      {backfill.problem && (
        <div className="toolbar">Older events cannot be loaded: {backfill.problem}</div>
      )}
      {runId !== null && <SkippedEvents runId={runId} />}
      <DroppedEvents />
    </>
  );
}
