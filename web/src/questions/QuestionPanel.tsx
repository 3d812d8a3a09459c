// Panel of a question from a server, with its content and the ways to answer.
import { Badge, Button, Loader } from "@mantine/core";
import { type KeyboardEvent, memo, type ReactNode, useCallback, useRef, useState } from "react";
import type { ErrorView, QuestionView } from "../api/types";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { ErrorNote } from "../components/ErrorNote";
import { useNow } from "../components/useNow";
import { command } from "../state/commands";
import { errorViewOf } from "../state/toasts";
import { formatDuration } from "../values/format";
import { AnswerBar, useClearOfAnswerBar } from "./AnswerBar";
import { ElicitationForm } from "./ElicitationForm";
import { ElicitationUrl } from "./ElicitationUrl";
import css from "./QuestionPanel.module.css";
import { askerName } from "./questionSummary";
import { RequestParams } from "./RequestParams";
import { Sampling } from "./Sampling";
import { endUnanswered } from "./waitingQuestions";

export interface AnswerProps {
  question: QuestionView;
  /** Send an answer; the panel shows errors. */
  send(work: Work): void;
  /** The answer was edited: errors about the previous one are cleared. */
  edited(): void;
  /** Why the last answer was not sent; shown above the buttons. */
  note: ReactNode;
}

type Work = (force: boolean) => Promise<unknown>;

interface FailedAnswer {
  error: ErrorView;
  /** The answer, if it may be sent anyway. */
  work: Work | null;
}

/** Whether the answer was refused because of its content. */
const isRefusedAnswer = (error: ErrorView): boolean =>
  error.code === "INVALID_ANSWER" && Array.isArray(error.details.findings);

/** Ctrl-Enter answers; the screen behind must not run its call. */
function answerByKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.stopPropagation();
  event.currentTarget.querySelector<HTMLButtonElement>("[data-answer]:not(:disabled)")?.click();
}

function Countdown({ question, deadline }: { question: QuestionView; deadline: number }) {
  const now = useNow(true);
  return (
    <span className="dim">
      {endUnanswered(question)} in {formatDuration(Math.max(0, deadline - now))} if unanswered
    </span>
  );
}

const isUrlMode = (question: QuestionView): boolean =>
  question.mode === "url" || question.link !== null;

function Body(props: AnswerProps) {
  const { question, send, note } = props;
  if (question.method === "sampling/createMessage") return <Sampling {...props} />;
  if (question.method === "elicitation/create") {
    return isUrlMode(question) ? <ElicitationUrl {...props} /> : <ElicitationForm {...props} />;
  }
  return (
    <div className="stack">
      <RequestParams question={question} label="Parameters" />
      <AnswerBar note={note}>
        <Button
          variant="default"
          onClick={() =>
            send(() => command("RejectQuestion", { question_id: question.question_id }))
          }
        >
          Reject
        </Button>
      </AnswerBar>
    </div>
  );
}

const kindOf = (question: QuestionView): string => {
  if (question.method !== "elicitation/create") return question.method;
  return `${question.method} (${isUrlMode(question) ? "URL" : "form"})`;
};

/** What the server wants, in words. */
const askedFor = (question: QuestionView): string => {
  if (question.method === "sampling/createMessage") return "asks for a completion";
  if (question.method !== "elicitation/create") return "asks";
  return isUrlMode(question) ? "asks you to open a page" : "asks you to fill in a form";
};

/** Ids repeat after a restart; the time tells two questions apart. */
export const QuestionPanel = memo(({ question }: { question: QuestionView }) => (
  <Panel key={`${question.question_id} ${question.opened}`} question={question} />
));
QuestionPanel.displayName = "QuestionPanel";

function Panel({ question }: { question: QuestionView }) {
  const [failed, setFailed] = useState<FailedAnswer | null>(null);
  const clear = useClearOfAnswerBar();
  const edits = useRef(0);
  const edited = useCallback(() => {
    edits.current += 1;
    setFailed(null);
  }, []);
  const attempt = (work: Work, force: boolean): void => {
    const before = edits.current;
    setFailed(null);
    work(force).catch((thrown: unknown) => {
      const error = errorViewOf(thrown);
      const isAsItWas = edits.current === before;
      setFailed({ error, work: isRefusedAnswer(error) && isAsItWas ? work : null });
    });
  };
  const again = failed?.work;
  const note = failed && (
    <ErrorNote
      error={failed.error}
      title="The answer was not sent"
      action={
        again && (
          <Button size="compact-xs" variant="default" onClick={() => attempt(again, true)}>
            Send anyway
          </Button>
        )
      }
    />
  );
  return (
    <section
      className={css.panel}
      data-form
      id={question.question_id}
      aria-label={`Question: ${question.method}`}
      onKeyDown={answerByKey}
      {...clear}
    >
      <header className={css.head}>
        <strong>
          {question.origin === "app" && "An app of "}
          {askerName(question)} {askedFor(question)}
        </strong>
        <span className="mono dim">{kindOf(question)}</span>
        {question.round !== null && question.round > 1 && (
          <Badge color="gray">
            round {question.round}
            {question.most_rounds ? ` of at most ${question.most_rounds}` : ""}
          </Badge>
        )}
        {question.task_id && <Badge color="gray">task {question.task_id}</Badge>}
        <span className="grow" />
        {question.deadline !== null && (
          <Countdown question={question} deadline={question.deadline} />
        )}
        {question.count > 1 && (
          <Badge color="gray">
            {question.number} of {question.count}
          </Badge>
        )}
      </header>
      <div className={css.body}>
        {question.answering_by && (
          <div className="row" role="status">
            <Loader size={14} /> {question.answering_by} is answering
          </div>
        )}
        <ErrorBoundary what="this question" raw={question.params}>
          <Body
            question={question}
            send={(work) => attempt(work, false)}
            edited={edited}
            note={note}
          />
        </ErrorBoundary>
      </div>
    </section>
  );
}
