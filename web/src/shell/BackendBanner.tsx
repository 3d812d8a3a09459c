// Banner about the backend: not reachable, not signed in, restarted, or not recording.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import type { BackendLink } from "../api/socket";
import { Icon, type IconName } from "../components/Icon";
import { useNow } from "../components/useNow";
import { socket } from "../state/commands";
import { useInspector } from "../state/store";
import css from "./BackendBanner.module.css";
import { useBackendDown } from "./useBackendDown";

/** A live region must exist before its text, or it is not announced. */
export function BackendBanner() {
  const link = useInspector((state) => state.link);
  if (link.state === "refused") return <SignInBanner />;
  return (
    <div role="status" className={css.place}>
      <StatusBanner link={link} />
    </div>
  );
}

function SignInBanner() {
  return (
    <Banner tone="bad" icon="auth" action="Try again" onAction={() => socket.retry()}>
      This page is not signed in. Open the address that mcplens printed when it started; its token
      is good for this browser.
    </Banner>
  );
}

function StatusBanner({ link }: { link: BackendLink }) {
  const earlierRunId = useInspector((state) => state.earlier_run_id);
  const firstServerId = useInspector((state) => state.first_server_id);
  const recordingProblem = useInspector((state) => state.recording_problem);
  const isDown = useBackendDown();
  const now = useNow(isDown, 500);
  if (isDown) {
    const left = link.retryAt === null ? 0 : Math.max(0, Math.ceil(link.retryAt / 1000 - now));
    return (
      <Banner tone="wait" icon="alert" action="Try now" onAction={() => socket.retry()}>
        {link.isTaken
          ? "Another program now uses this address. This page is waiting for mcplens."
          : "mcplens is not responding."}{" "}
        <span aria-hidden="true">{left > 0 ? `Trying again in ${left} s.` : "Trying again…"}</span>{" "}
        The page shows the last known state.
      </Banner>
    );
  }
  if (recordingProblem) {
    return (
      <Banner tone="wait" icon="alert">
        {recordingProblem.charAt(0).toUpperCase() + recordingProblem.slice(1)}
      </Banner>
    );
  }
  if (earlierRunId === null) return null;
  return (
    <Banner
      tone="info"
      icon="info"
      action="OK"
      onAction={() => useInspector.setState({ earlier_run_id: null })}
    >
      mcplens was restarted, and this page is connected to it again.{" "}
      {firstServerId === null && "Its servers are disconnected. "}
      Earlier traffic is in{" "}
      <Link to={`/traffic?run=${encodeURIComponent(earlierRunId)}`}>
        the recording of the last session
      </Link>
      .
    </Banner>
  );
}

interface BannerProps {
  tone: "bad" | "wait" | "info";
  icon: IconName;
  action?: string;
  onAction?: () => void;
  children: ReactNode;
}

function Banner({ tone, icon, action, onAction, children }: BannerProps) {
  return (
    <div className={css.banner} data-tone={tone} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={icon} />
      <span>{children}</span>
      {action && (
        <Button size="compact-xs" variant="default" onClick={onAction}>
          {action}
        </Button>
      )}
    </div>
  );
}
