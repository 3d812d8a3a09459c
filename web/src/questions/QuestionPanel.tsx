// A question of a server, with all that it asks and the ways to answer.
import { Badge, Button, Loader } from "@mantine/core";
import { useState } from "react";
import type { ErrorView, QuestionView } from "../api/types";
import { ErrorNote } from "../parts/ErrorNote";
import { duration } from "../parts/format";
import { JsonTree } from "../parts/JsonTree";
import { useNow } from "../parts/useNow";
import { viewOf } from "../state/actions";
import { command } from "../state/connection";
import { dropDraft } from "../state/remembered";
import { ElicitationForm } from "./ElicitationForm";
import { ElicitationUrl } from "./ElicitationUrl";
import css from "./QuestionPanel.module.css";
import { Sampling } from "./Sampling";

export interface AnswerProps {
  question: QuestionView;
  /** Send an answer; what goes wrong is shown by the panel. */
  send(work: (force: boolean) => Promise<unknown>): void;
}

function Countdown({ deadline }: { deadline: number }) {
  const now = useNow(true);
  return (
    <span className="dim">rejected in {duration(Math.max(0, deadline - now))} if unanswered</span>
  );
}

const isAtUrl = (question: QuestionView): boolean =>
  question.mode === "url" || question.link !== null;

function Body({ question, send }: AnswerProps) {
  if (question.method === "sampling/createMessage")
    return <Sampling question={question} send={send} />;
  if (question.method === "elicitation/create") {
    return isAtUrl(question) ? (
      <ElicitationUrl question={question} send={send} />
    ) : (
      <ElicitationForm question={question} send={send} />
    );
  }
  return (
    <div className="stack">
      <JsonTree value={question.params} label="Parameters" most={300} />
      <div className={css.buttons}>
        <Button
          variant="default"
          onClick={() =>
            send(() => command("RejectQuestion", { question_id: question.question_id }))
          }
        >
          Reject
        </Button>
      </div>
    </div>
  );
}

const kindOf = (question: QuestionView): string => {
  if (question.method !== "elicitation/create") return question.method;
  return `${question.method} (${isAtUrl(question) ? "URL" : "form"})`;
};

export function QuestionPanel({ question }: { question: QuestionView }) {
  const [error, setError] = useState<ErrorView | null>(null);
  const [again, setAgain] = useState<((force: boolean) => Promise<unknown>) | null>(null);
  const attempt = (work: (force: boolean) => Promise<unknown>, force: boolean): void => {
    setError(null);
    work(force).then(
      () => dropDraft(`question.${question.question_id}`),
      (thrown: unknown) => {
        setError(viewOf(thrown));
        setAgain(() => work);
      },
    );
  };
  return (
    <section className={css.panel} aria-label={`Question: ${question.method}`}>
      <header className={css.head}>
        <span className="mono">{kindOf(question)}</span>
        <span className="dim">from {question.server_id}</span>
        {question.round !== null && (
          <Badge color="gray">
            round {question.round}
            {question.most_rounds ? ` of at most ${question.most_rounds}` : ""}
          </Badge>
        )}
        {question.task_id && <Badge color="gray">task {question.task_id}</Badge>}
        <span className="grow" />
        {question.deadline !== null && <Countdown deadline={question.deadline} />}
        <Badge color="gray">
          {question.number} of {question.count}
        </Badge>
      </header>
      <div className={css.body}>
        {question.answering_by && (
          <div className="row" role="status">
            <Loader size={14} /> {question.answering_by} is answering
          </div>
        )}
        <Body question={question} send={(work) => attempt(work, false)} />
        {error && (
          <ErrorNote
            error={error}
            title="The answer was not sent"
            action={
              again && (
                <Button size="compact-xs" variant="default" onClick={() => attempt(again, true)}>
                  Send anyway
                </Button>
              )
            }
          />
        )}
      </div>
    </section>
  );
}
