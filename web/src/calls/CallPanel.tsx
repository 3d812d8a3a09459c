// A call from its start to its end: what it waits for, its questions, its result.
import { Button } from "@mantine/core";
import { memo, type ReactNode } from "react";
import { Link } from "react-router";
import type { CallView, QuestionView } from "../api/types";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { ErrorNote } from "../components/ErrorNote";
import { lazyModule, useModule } from "../components/lazyModule";
import { ModuleLoading } from "../components/ModuleLoading";
import { questionsOf } from "../questions/waitingQuestions";
import { useMuteCall } from "../state/notifications";
import { useInspector } from "../state/store";
import { codeMeaning } from "../values/rpcErrors";
import { CallActions } from "./CallActions";
import type { Choice } from "./CallChooser";
import { CallFacts } from "./CallFacts";
import css from "./CallPanel.module.css";
import { CallProgress, CancelledCall, cancelCall } from "./CallProgress";
import { useFoldedRequest } from "./CallRequest";
import { isRunning } from "./callStatus";
import { MalformedNotice } from "./MalformedNotice";
import { RepeatButton } from "./RepeatButton";
import { ResultView } from "./ResultView";
import { rpcErrorOf } from "./useCallResult";

interface HeadProps {
  call: CallView;
  /** The calls to choose from, if there may be others. */
  choice?: Choice;
}

function Head({ call, choice }: HeadProps) {
  return (
    <div className="toolbar">
      <CallFacts call={call} choice={choice} />
      <div className="actions">
        <CallActions call={call} />
      </div>
    </div>
  );
}

// Each question is a form; more are shown as these are answered.
const MOST_ASKED = 5;

const waitingLabel = (questions: QuestionView[]): string =>
  questions.length === 1
    ? "1 question is waiting"
    : `${questions.length.toLocaleString("en")} questions are waiting`;

/** The first questions, and the one that was selected. */
function visibleQuestions(questions: QuestionView[], chosen: string | undefined): QuestionView[] {
  const first = questions.slice(0, MOST_ASKED);
  const one = questions.find(({ question_id }) => question_id === chosen);
  return !one || first.includes(one) ? first : [one, ...first.slice(0, -1)];
}

/** The questions that a call waits for. */
function useQuestions(call: CallView): ReturnType<typeof questionsOf> {
  const questions = useInspector((state) => state.questions);
  const calls = useInspector((state) => state.calls);
  return questionsOf(call, questions, calls);
}

interface PendingQuestionsProps extends ReturnType<typeof useQuestions> {
  call: CallView;
  /** The question that was selected. */
  chosen?: string;
}

// Most calls ask nothing.
export const panelModule = lazyModule(() => import("../questions/QuestionPanel"));

function AskedQuestion({ question }: { question: QuestionView }) {
  const module = useModule(panelModule);
  if (!module) return <ModuleLoading loader={panelModule} what="the question" />;
  return <module.QuestionPanel question={question} />;
}

/** The questions that the server needs answered before it continues. */
function PendingQuestions({ call, questions, isSure, chosen }: PendingQuestionsProps) {
  const drawn = visibleQuestions(questions, chosen);
  const left = questions.length - drawn.length;
  return (
    <>
      {/* A single question says itself that it waits. */}
      {(questions.length > 1 || (questions.length > 0 && !isSure)) && (
        <div className={css.pending}>
          <strong>
            {waitingLabel(questions)} {isSure ? "for you" : "that may belong to this call"}
          </strong>
          <span>
            {isSure
              ? "The call continues when you have answered."
              : "The server did not say which call the question belongs to."}
          </span>
        </div>
      )}
      {drawn.map((question) => (
        <AskedQuestion key={question.question_id} question={question} />
      ))}
      {left > 0 && (
        <div className={css.pending}>
          <strong>
            {left.toLocaleString("en")} more {left === 1 ? "is waiting" : "are waiting"}
          </strong>
          <span>Answer one to see the next.</span>
          <Link to="/questions">All questions</Link>
        </div>
      )}
      {call.is_waiting_on_user && questions.length === 0 && (
        <div className={css.pending}>
          <strong>A question is waiting that may belong to this call</strong>
          <Link to="/questions">Show all questions</Link>
        </div>
      )}
    </>
  );
}

interface Props {
  call: CallView;
  hasSchema?: boolean;
  /** The question that was opened: always shown, even if many others are waiting. */
  questionId?: string;
  /** Called with the new call when this one is repeated. */
  onRepeated?(callId: string): void;
  /** The calls to choose from, if there may be others. */
  choice?: Choice;
  /** Whether the parent shows the call's facts and actions itself. */
  isHeadless?: boolean;
  /** The app of the tool, if it has one. */
  app?: ReactNode;
}

/** The name of a call's region, for screen readers. */
export const callLabel = (call: CallView): string => `Call of ${call.name || call.method}`;

function Panel({ call, hasSchema, questionId, onRepeated, choice, isHeadless, app }: Props) {
  useMuteCall(call.call_id);
  const asked = useQuestions(call);
  const running = isRunning(call);
  const isAsked = running && asked.questions.length > 0;
  const request = useFoldedRequest(call);
  const rpcError = rpcErrorOf(call.error);
  const isAnswered = rpcError !== null;
  const hasResult = call.status === "completed" || isAnswered;
  const again = <RepeatButton call={call} onRepeated={onRepeated} />;
  const failure = call.error && (
    <ErrorNote
      error={call.error}
      title={call.status === "error" ? "The call failed" : "Error reply"}
      note={rpcError && codeMeaning(rpcError.code, rpcError.message)}
      action={again}
      hasViews={isAnswered}
    />
  );
  const content = (
    <>
      {!isHeadless && <Head call={call} choice={choice} />}
      <div className={`scroll ${css.body}`}>
        <div className="stack">
          {running && !isAsked && <CallProgress call={call} />}
          <PendingQuestions call={call} {...asked} chosen={questionId} />
          {!hasResult && request.button}
          {!hasResult && request.body}
          {call.status === "cancelled" ? (
            <CancelledCall call={call} action={again} />
          ) : (
            !hasResult && failure
          )}
          <MalformedNotice call={call} />
          {hasResult && (
            <ErrorBoundary what="this result" raw={call.result}>
              <ResultView
                call={call}
                hasSchema={hasSchema}
                request={request}
                app={isAnswered ? undefined : app}
                failure={isAnswered ? failure : undefined}
              />
            </ErrorBoundary>
          )}
        </div>
      </div>
      {isAsked && (
        <div className={css.foot}>
          <Button variant="subtle" color="gray" onClick={() => cancelCall(call)}>
            Cancel tool execution
          </Button>
        </div>
      )}
    </>
  );
  if (isHeadless) return <div className="pane">{content}</div>;
  return (
    <section className="pane" aria-label={callLabel(call)}>
      {content}
    </section>
  );
}

/** Re-renders only when the call changes, not for each key typed in the form beside it. */
export const CallPanel = memo(Panel);
