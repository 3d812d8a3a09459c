// Progress of a running call with a Cancel button, and the state of a cancelled one.
import { Button, Progress } from "@mantine/core";
import type { ReactNode } from "react";
import type { CallView, ProgressView } from "../api/types";
import { useNow } from "../components/useNow";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";
import { formatDuration } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import css from "./CallPanel.module.css";
import { waitingFor } from "./callStatus";

// The engine's message for a plain cancellation.
const BY_USER = "cancelled by the user";

export const cancelCall = ({ call_id }: CallView): void =>
  void withErrorToast("The call could not be cancelled", command("CancelCall", { call_id }));

const progressLabel = ({ message, progress, total }: ProgressView): string =>
  visible(message ?? `Progress ${progress}${total ? ` of ${total}` : ""}`);

/** A cancelled call with its last progress; not shown as a failure. */
export function CancelledCall({ call, action }: { call: CallView; action: ReactNode }) {
  const why = call.error?.message;
  return (
    <div className={css.running}>
      <div className="row wrap">
        <strong>Cancelled</strong>
        {why && why !== BY_USER && <span className="dim">{why}</span>}
        <span className="grow" />
        {action}
      </div>
      {call.progress && (
        <span className={css.last}>Last progress: {progressLabel(call.progress)}</span>
      )}
    </div>
  );
}

export function CallProgress({ call }: { call: CallView }) {
  const now = useNow(true, 250);
  const { progress } = call;
  const share = progress?.total ? Math.min(100, (100 * progress.progress) / progress.total) : null;
  return (
    <div className={css.running}>
      <div className="row">
        {/* The host that is waited for must be seen whole; a server's progress may be long. */}
        <span className={progress ? "grow cut" : `grow ${css.waiting}`}>
          {progress ? progressLabel(progress) : waitingFor(call)}
        </span>
        {share !== null && <span>{Math.round(share)} %</span>}
        <span className={css.time} role="timer">
          {formatDuration(Math.max(0, now - call.started))}
        </span>
        <Button
          className={css.cancel}
          size="compact-xs"
          variant="default"
          color="red"
          onClick={() => cancelCall(call)}
        >
          Cancel
        </Button>
      </div>
      {progress && call.awaiting.length > 0 && <span className={css.last}>{waitingFor(call)}</span>}
      <Progress
        value={share ?? 100}
        animated={share === null}
        striped={share === null}
        size="sm"
        aria-label="Progress of the call"
      />
    </div>
  );
}
