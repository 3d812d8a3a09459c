// Progress of a connection attempt or a scheduled retry, with a Cancel button.
import { Button, Loader } from "@mantine/core";
import type { ServerView } from "../api/types";
import { useNow } from "../components/useNow";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";
import { withoutAnsi } from "../values/ansi";
import { formatDuration } from "../values/format";
import { connectStepLabel, isPersonAwaited, isRetrying, strayLines } from "../values/serverState";
import css from "./ConnectProgress.module.css";
import { SignInLink, SignInStepsLink } from "./SignInLink";

export const isConnecting = (server: ServerView): boolean =>
  server.state === "CONNECTING" || isRetrying(server);

/** What a server printed to stdout, instead of the answer that is waited for. */
function StrayLines({ lines }: { lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="stack tight" role="status">
      <span>The server printed to stdout, which is only for messages. Logs belong on stderr.</span>
      <pre className="block">{withoutAnsi(lines.join("\n"))}</pre>
    </div>
  );
}

// Enough to see what it is doing, on a card too.
const LINES = 6;

/** What a server prints while it is being connected: why it takes so long, or why it failed. */
export function ConnectOutput({ server }: { server: ServerView }) {
  // Of a process that ended, its last lines stand with its exit code.
  const isShown = isConnecting(server) && !server.exit;
  const said = isShown ? server.stderr_tail.slice(-LINES) : [];
  return (
    <>
      <StrayLines lines={strayLines(server)} />
      {said.length > 0 && (
        <section aria-label="Last lines of stderr">
          <pre className={`block ${css.said}`}>{withoutAnsi(said.join("\n"))}</pre>
        </section>
      )}
    </>
  );
}

/** Timers are not announced; the state label beside this is. */
export function ConnectProgress({ server }: { server: ServerView }) {
  const now = useNow(true, 500);
  const { retry, server_id } = server;
  const next = retry?.at ? Math.max(0, Math.ceil(retry.at - now)) : null;
  return (
    <div className={css.waiting}>
      {server.state === "CONNECTING" && <Loader size={14} color="yellow" aria-hidden="true" />}
      <span className="grow" role="timer">
        {next !== null ? (
          `Next attempt in ${next} s`
        ) : (
          <>
            {connectStepLabel(server)}
            {now - server.since >= 1 && (
              <span className="dim"> · for {formatDuration(now - server.since)}</span>
            )}
          </>
        )}
      </span>
      {isRetrying(server) && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() =>
            void withErrorToast("Could not connect", command("Connect", { server_id }))
          }
        >
          Try now
        </Button>
      )}
      <Button
        size="compact-xs"
        variant="default"
        onClick={() =>
          void withErrorToast("Could not cancel", command("Disconnect", { server_id }))
        }
      >
        Cancel
      </Button>
      {isPersonAwaited(server) && (
        <div className={`row wrap ${css.ask}`}>
          <SignInLink server={server} />
          <SignInStepsLink server={server} />
        </div>
      )}
    </div>
  );
}
