// Says so when the page has lost its backend, or was never let in.
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { Icon } from "../parts/icons";
import { useNow } from "../parts/useNow";
import { socket } from "../state/connection";
import { useInspector } from "../state/store";
import css from "./LinkBanner.module.css";

// A reconnect that is quicker than this is not worth a word.
const PATIENCE_MS = 600;

export function LinkBanner() {
  const link = useInspector((state) => state.link);
  const isRestarted = useInspector((state) => state.is_restarted);
  const recordingProblem = useInspector((state) => state.recording_problem);
  const [isSlow, setSlow] = useState(false);
  const isDown = link.state === "waiting" || (link.state === "connecting" && link.attempts > 0);
  const now = useNow(isDown, 500);
  useEffect(() => {
    if (!isDown) return setSlow(false);
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isDown]);
  if (link.state === "refused") {
    return (
      <div className={css.banner} data-tone="bad" role="alert">
        <Icon name="auth" />
        <span>
          This page is not signed in. Open the address that mcplens printed when it started; its
          token is good for this browser.
        </span>
      </div>
    );
  }
  if (isDown && isSlow) {
    const left = link.retryAt === null ? 0 : Math.max(0, Math.ceil(link.retryAt / 1000 - now));
    return (
      <div className={css.banner} data-tone="wait" role="status">
        <Icon name="alert" />
        <span>
          mcplens does not answer. {left > 0 ? `Trying again in ${left} s.` : "Trying again…"} What
          you see is as it was.
        </span>
        <Button size="compact-xs" variant="default" onClick={() => socket.retry()}>
          Try now
        </Button>
      </div>
    );
  }
  if (recordingProblem) {
    return (
      <div className={css.banner} data-tone="wait" role="status">
        <Icon name="alert" />
        <span>Nothing is being recorded: {recordingProblem}</span>
      </div>
    );
  }
  if (!isRestarted) return null;
  return (
    <div className={css.banner} data-tone="info" role="status">
      <Icon name="info" />
      <span>mcplens was started again. Earlier traffic is in the recording.</span>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => useInspector.setState({ is_restarted: false })}
      >
        Understood
      </Button>
    </div>
  );
}
