// A call under way: how far it is, since when, and how to call it off; and one that was.
import { Button, Progress } from "@mantine/core";
import type { ReactNode } from "react";
import type { CallView, ProgressView } from "../api/types";
import { useNow } from "../components/useNow";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";
import { formatDuration } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import css from "./CallPanel.module.css";

// What the engine says where nothing more is to be said.
const BY_USER = "cancelled by the user";

export const cancelCall = ({ call_id }: CallView): void =>
  void withErrorToast("It was not cancelled", command("CancelCall", { call_id }));

const progressLabel = ({ message, progress, total }: ProgressView): string =>
  visible(message ?? `Progress ${progress}${total ? ` of ${total}` : ""}`);

/** A call that was called off: no failure, and how far it had come. */
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

/** `hasCancel` is false where the panel has a way to cancel of its own. */
export function CallProgress({ call, hasCancel = true }: { call: CallView; hasCancel?: boolean }) {
  const now = useNow(true, 250);
  const { progress } = call;
  const share = progress?.total ? Math.min(100, (100 * progress.progress) / progress.total) : null;
  return (
    <div className={css.running}>
      <div className="row">
        <span className="grow cut">
          {progress ? progressLabel(progress) : "Waiting for the answer"}
        </span>
        {share !== null && <span>{Math.round(share)} %</span>}
        <span className={css.time} role="timer">
          {formatDuration(Math.max(0, now - call.started))}
        </span>
        {hasCancel && (
          <Button size="compact-xs" variant="default" color="red" onClick={() => cancelCall(call)}>
            Cancel
          </Button>
        )}
      </div>
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
