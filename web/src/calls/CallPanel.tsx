// A call from its start to its end: what it waits for, its questions, its result.
import { Badge, Button, Loader, Progress } from "@mantine/core";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { ErrorNote } from "../parts/ErrorNote";
import { bytes, clock, duration } from "../parts/format";
import { Guarded } from "../parts/Guarded";
import { useNow } from "../parts/useNow";
import { QuestionPanel } from "../questions/QuestionPanel";
import { telling } from "../state/actions";
import { command, startCall } from "../state/connection";
import { useOnScreen } from "../state/onScreen";
import { reconnect } from "../state/reconnect";
import { pathTo } from "../state/selection";
import { useInspector } from "../state/store";
import { Asked } from "./Asked";
import { CallActions } from "./CallActions";
import css from "./CallPanel.module.css";
import { ResultView } from "./ResultView";
import { isRunning } from "./running";

const TONES: Record<CallView["status"], string> = {
  pending: "gray",
  in_progress: "yellow",
  completed: "green",
  cancelled: "gray",
  error: "red",
};
const WORDS: Record<CallView["status"], string> = {
  pending: "Waiting its turn",
  in_progress: "Running",
  completed: "Done",
  cancelled: "Cancelled",
  error: "Failed",
};

/** Its own answer was an error, though the call itself went well. */
const errorWord = (call: CallView): string => (call.kind === "raw" ? "Error reply" : "Tool error");

export function StatusBadge({ call }: { call: CallView }) {
  if (call.status === "completed" && call.is_error)
    return <Badge color="red">{errorWord(call)}</Badge>;
  if (call.is_waiting_on_user) return <Badge color="orange">Waits for you</Badge>;
  return <Badge color={TONES[call.status]}>{WORDS[call.status]}</Badge>;
}

function Running({ call }: { call: CallView }) {
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
        <span className={css.time}>{duration(Math.max(0, now - call.started))}</span>
        <Button
          size="compact-xs"
          variant="default"
          color="red"
          onClick={() =>
            void telling("It was not cancelled", command("CancelCall", { call_id: call.call_id }))
          }
        >
          Cancel
        </Button>
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

/** Make a call again as it was made, by a new connection where the old one is gone. */
function Again({ call, onRepeated }: { call: CallView; onRepeated?(callId: string): void }) {
  const state = useInspector((all) => all.servers.get(call.server_id)?.state);
  const repeat = async (): Promise<void> => {
    if (!(await reconnect(call.server_id))) return;
    const again = await startCall("RepeatCall", { call_id: call.call_id });
    onRepeated?.(again.call_id);
  };
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => void telling("It was not sent again", repeat())}
    >
      {state === "CONNECTED" ? "Send it again" : "Connect and send it again"}
    </Button>
  );
}

export function CallPanel({
  call,
  hasSchema,
  onRepeated,
}: {
  call: CallView;
  hasSchema?: boolean;
  /** Where the call that repeats this one is to be shown. */
  onRepeated?(callId: string): void;
}) {
  useOnScreen(call.call_id);
  const all = useInspector((state) => state.questions);
  const questions = [...all.values()].filter(
    (question) => question.call_id === call.call_id && !question.is_done,
  );
  const running = isRunning(call);
  return (
    <section className="pane" aria-label={`Call of ${call.name || call.method}`}>
      <div className="toolbar">
        <StatusBadge call={call} />
        <span className="dim">{clock(call.started, false)}</span>
        {call.elapsed_s !== null && <span className="dim">{duration(call.elapsed_s)}</span>}
        {call.result_size_bytes > 0 && <span className="dim">{bytes(call.result_size_bytes)}</span>}
        {call.request_id !== null && (
          <Link
            className={css.link}
            to={`${pathTo(call.server_id, "traffic")}?id=${encodeURIComponent(String(call.request_id))}`}
          >
            id {String(call.request_id)}
          </Link>
        )}
        <span className="grow" />
        <CallActions call={call} />
      </div>
      <div className="scroll pad">
        <Asked call={call} />
        <div className="stack" aria-live="polite">
          {running && <Running call={call} />}
          {questions.length > 0 && (
            <div className={css.pending}>
              <strong>
                {questions.length === 1 ? "1 question waits" : `${questions.length} questions wait`}{" "}
                for you
              </strong>
              <span>The call goes on when you have answered.</span>
            </div>
          )}
          {questions.map((question) => (
            <QuestionPanel key={question.question_id} question={question} />
          ))}
          {call.is_waiting_on_user && questions.length === 0 && (
            <div className={css.pending}>
              <strong>A question waits that may belong to this call</strong>
              <Link to="/questions">See what servers ask</Link>
            </div>
          )}
          {call.awaiting.map((link) => (
            <div key={link.url} className="row" role="status">
              <Loader size={14} /> Waiting until it is done at {link.host || link.url}
            </div>
          ))}
          {call.error && (
            <ErrorNote
              error={call.error}
              title={call.status === "cancelled" ? "Cancelled" : "The call failed"}
              action={<Again call={call} onRepeated={onRepeated} />}
            />
          )}
          {!running && call.status === "completed" && (
            <Guarded what="this result" raw={call.result}>
              <ResultView call={call} hasSchema={hasSchema} />
            </Guarded>
          )}
        </div>
      </div>
      {running && questions.length > 0 && (
        <div className={css.foot}>
          <Button
            variant="default"
            onClick={() =>
              void telling("It was not cancelled", command("CancelCall", { call_id: call.call_id }))
            }
          >
            Cancel tool execution
          </Button>
        </div>
      )}
    </section>
  );
}
