// Why a server failed: its checks in the order in which things fail, and what would help.
import { ActionIcon, Button, Loader, Modal, Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import type { CheckView, DiagnosisView, ErrorView, ServerView } from "../api/types";
import { copyText } from "../components/clipboard";
import { ErrorNote } from "../components/ErrorNote";
import { Icon, type IconName } from "../components/Icon";
import { command } from "../state/commands";
import { serverName } from "../state/navigation";
import { errorViewOf } from "../state/toasts";
import { withoutAnsi } from "../values/ansi";
import { formatDuration } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import css from "./Diagnosis.module.css";

const MARKS: Record<CheckView["state"], IconName> = {
  ok: "check",
  warning: "alert",
  failed: "close",
};

function Check({ check }: { check: CheckView }) {
  return (
    <li className={css.check} data-state={check.state}>
      <span className={css.mark}>
        <Icon name={MARKS[check.state]} size={14} />
        <span className="sr">{check.state}</span>
      </span>
      <span className={css.words}>
        <span className={css.title}>{check.title}</span>
        {visible(check.tried)} → {visible(withoutAnsi(check.came))}
      </span>
      <span className={css.time}>
        {check.elapsed_s !== null && formatDuration(check.elapsed_s)}
      </span>
      {check.lines.length > 0 && (
        <pre className={`block ${css.lines}`}>{visible(withoutAnsi(check.lines.join("\n")))}</pre>
      )}
    </li>
  );
}

function Advice({ diagnosis }: { diagnosis: DiagnosisView }) {
  return (
    <>
      <strong role="status">{visible(diagnosis.conclusion)}</strong>
      <div className="row">
        <pre className={`block ${css.command}`}>{visible(diagnosis.command)}</pre>
        <Tooltip label="Copy">
          <ActionIcon
            aria-label="Copy the command"
            onClick={() => void copyText(diagnosis.command)}
          >
            <Icon name="copy" />
          </ActionIcon>
        </Tooltip>
      </div>
    </>
  );
}

function Checks({ server }: { server: ServerView }) {
  const { server_id } = server;
  const [diagnosis, setDiagnosis] = useState<DiagnosisView | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    let isGone = false;
    command("Examine", { server_id }).then(
      (found) => !isGone && setDiagnosis(found),
      (thrown) => !isGone && setError(errorViewOf(thrown)),
    );
    return () => {
      isGone = true;
    };
  }, [server_id]);
  if (error) return <ErrorNote error={error} title="It could not be checked" />;
  if (!diagnosis)
    return (
      <div className="row" role="status">
        <Loader size={14} /> Checking step by step; a server that does not answer takes a while…
      </div>
    );
  return (
    <div className="stack">
      <ol className={css.checks} aria-label="Checks">
        {diagnosis.checks.map((check) => (
          <Check key={check.name} check={check} />
        ))}
      </ol>
      <Advice diagnosis={diagnosis} />
    </div>
  );
}

/** Starts the server once more by itself, and looks at each step. */
export function DiagnosisButton({ server }: { server: ServerView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Tooltip label="Check it step by step, and say what would help">
        <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
          Why?
        </Button>
      </Tooltip>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={`Why ${serverName(server)} does not work`}
        size="lg"
      >
        <Checks server={server} />
      </Modal>
    </>
  );
}
