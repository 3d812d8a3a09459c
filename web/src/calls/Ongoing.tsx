// A call under way: how far it is, since when, and how to call it off.
import { Button, Progress } from "@mantine/core";
import type { CallView } from "../api/types";
import { useNow } from "../parts/useNow";
import { telling } from "../state/actions";
import { command } from "../state/connection";
import { duration } from "../values/format";
import css from "./CallPanel.module.css";

export const cancel = ({ call_id }: CallView): void =>
  void telling("It was not cancelled", command("CancelCall", { call_id }));

/** `hasCancel` is false where the panel has a way to cancel of its own. */
export function Ongoing({ call, hasCancel = true }: { call: CallView; hasCancel?: boolean }) {
  const now = useNow(true, 250);
  const { progress } = call;
  const share = progress?.total ? Math.min(100, (100 * progress.progress) / progress.total) : null;
  return (
    <div className={css.running}>
      <div className="row">
        <span className="grow cut">
          {progress?.message ??
            (progress
              ? `Progress ${progress.progress}${progress.total ? ` of ${progress.total}` : ""}`
              : "Waiting for the answer")}
        </span>
        {share !== null && <span>{Math.round(share)} %</span>}
        <span className={css.time} role="timer">
          {duration(Math.max(0, now - call.started))}
        </span>
        {hasCancel && (
          <Button size="compact-xs" variant="default" color="red" onClick={() => cancel(call)}>
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
