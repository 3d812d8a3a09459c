// A server asks a person to do something at a URL. The address is shown and judged, never opened
// by itself.
import { Button, Loader } from "@mantine/core";
import { Callout } from "../parts/Callout";
import { copy } from "../parts/text";
import { command } from "../state/connection";
import { useDraft } from "../state/remembered";
import type { AnswerProps } from "./QuestionPanel";
import css from "./QuestionPanel.module.css";
import { inspectUrl } from "./urlWarnings";

interface Params {
  message?: unknown;
  url?: unknown;
  elicitationId?: unknown;
}

export function ElicitationUrl({ question, send }: AnswerProps) {
  const { question_id } = question;
  const params = (question.params ?? {}) as Params;
  const { link } = question;
  const url = link?.url ?? String(params.url ?? "");
  const own = inspectUrl(url);
  // Two judges: what either of them finds odd is told.
  const warnings = [...new Set([...own.warnings, ...(link?.warnings ?? [])])];
  const isOpenable = own.isOpenable && (link?.is_openable ?? true);
  const [isOpened, setOpened] = useDraft(`question.${question_id}`, false);
  const answer = (action: "accept" | "decline" | "cancel"): void =>
    send((force) => command("AnswerElicitation", { question_id, action, force }));
  const open = (): void => {
    window.open(url, "_blank", "noopener,noreferrer");
    setOpened(true);
  };
  return (
    <div className="stack">
      <p className={css.message}>{String(params.message ?? "")}</p>
      <pre className="block">{url}</pre>
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button variant="default" onClick={() => void copy(url)}>
          Copy
        </Button>
        <Button variant="default" disabled={!isOpenable} onClick={open}>
          Open
        </Button>
      </div>
      <div className="row" role="status">
        {isOpened && <Loader size={14} />}
        <span>
          {isOpened ? "Waiting for completion. Say when you are done." : "Not opened yet."}
        </span>
      </div>
      {params.elicitationId !== undefined && (
        <span className="dim">
          Elicitation ID: <span className="mono">{String(params.elicitationId)}</span>
        </span>
      )}
      <Callout>
        {own.host ? (
          <>
            Opening leads to <strong className="mono">{own.host}</strong>. Verify the domain.
          </>
        ) : (
          "Do not open this."
        )}
        {warnings.map((warning) => (
          <div key={warning}>{warning}</div>
        ))}
      </Callout>
      <div className={css.buttons}>
        <Button variant="default" onClick={() => answer("cancel")}>
          Cancel
        </Button>
        <Button variant="default" onClick={() => answer("decline")}>
          Decline
        </Button>
        <Button onClick={() => answer("accept")}>Accept</Button>
      </div>
    </div>
  );
}
