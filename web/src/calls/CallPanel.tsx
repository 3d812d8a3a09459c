// A call from its start to its end: what it waits for, its questions, its result.
import { ActionIcon, Badge, Button, Loader, Menu, Progress, Tooltip } from "@mantine/core";
import { Link } from "react-router";
import type { CallView } from "../api/types";
import { ErrorNote } from "../parts/ErrorNote";
import { bytes, clock, duration } from "../parts/format";
import { Icon } from "../parts/icons";
import { copy, pretty, save } from "../parts/text";
import { useNow } from "../parts/useNow";
import { QuestionPanel } from "../questions/QuestionPanel";
import { telling } from "../state/actions";
import { command } from "../state/connection";
import { pathTo } from "../state/selection";
import { useInspector } from "../state/store";
import css from "./CallPanel.module.css";
import { asCommand, asCurl, asJsonRpc, asPython } from "./copyAs";
import { ResultView } from "./ResultView";
import { useResult } from "./useResult";

export const isRunning = (call: CallView): boolean =>
  call.status === "pending" || call.status === "in_progress";

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

export function StatusBadge({ call }: { call: CallView }) {
  if (call.status === "completed" && call.is_error) return <Badge color="red">Tool error</Badge>;
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

function Actions({ call }: { call: CallView }) {
  const server = useInspector((state) => state.servers.get(call.server_id));
  const { value } = useResult(call);
  return (
    <>
      <Tooltip label="Copy the result">
        <ActionIcon
          aria-label="Copy the result"
          disabled={value === undefined}
          onClick={() => void copy(pretty(value))}
        >
          <Icon name="copy" />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Download the result">
        <ActionIcon
          aria-label="Download the result"
          disabled={value === undefined}
          onClick={() =>
            save(
              pretty(value),
              `${call.name || call.method}.json`.replaceAll("/", "-"),
              "application/json",
            )
          }
        >
          <Icon name="download" />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-xs" variant="default" rightSection={<Icon name="down" size={12} />}>
            Copy as
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void copy(asCommand(call))}>mcplens command</Menu.Item>
          <Menu.Item onClick={() => void copy(asPython(call, server))}>Python</Menu.Item>
          <Menu.Item disabled={!server?.url} onClick={() => void copy(asCurl(call, server))}>
            curl
          </Menu.Item>
          <Menu.Item onClick={() => void copy(asJsonRpc(call))}>JSON-RPC request</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

export function CallPanel({
  call,
  hasSchema,
  onReplay,
  isConnected = true,
}: {
  call: CallView;
  hasSchema?: boolean;
  onReplay?(): void;
  isConnected?: boolean;
}) {
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
        <Actions call={call} />
      </div>
      <div className="scroll pad">
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
          {call.awaiting.map((link) => (
            <div key={link.url} className="row" role="status">
              <Loader size={14} /> Waiting until it is done at {link.host || link.url}
            </div>
          ))}
          {call.error && (
            <ErrorNote
              error={call.error}
              title={call.status === "cancelled" ? "Cancelled" : "The call failed"}
              action={
                onReplay && (
                  <Button size="compact-xs" variant="default" onClick={onReplay}>
                    {isConnected ? "Send it again" : "Connect and send it again"}
                  </Button>
                )
              }
            />
          )}
          {!running && call.status === "completed" && (
            <ResultView call={call} hasSchema={hasSchema} />
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
