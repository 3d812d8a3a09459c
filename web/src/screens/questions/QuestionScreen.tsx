// A question on its own screen, with the call that waits for it, so that the next question or the
// result is shown here too.
import { Button } from "@mantine/core";
import { useEffect } from "react";
import { Link, useNavigate } from "react-router";
import type { CallView, QuestionView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { EmptyState } from "../../components/EmptyState";
import { QuestionPanel } from "../../questions/QuestionPanel";
import { questionSummary } from "../../questions/questionSummary";
import { waitingQuestions } from "../../questions/waitingQuestions";
import { ring } from "../../state/events";
import { pathToCall, pathToQuestion, usePageLocation } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { formatTime, truncate } from "../../values/format";

function Head({ question, call }: { question: QuestionView; call: CallView | undefined }) {
  return (
    <div className="toolbar">
      <h1 className="title">A question from {question.server_id}</h1>
      {call && (
        <span>
          during{" "}
          <Link className="mono" to={pathToCall(call)}>
            {call.name || call.method}
          </Link>
        </span>
      )}
      <span className="grow" />
      <Link to="/questions">All questions</Link>
    </div>
  );
}

const MOST_CALLS = 3;

/** The newest calls that waited for a question: one of them may have caused it. */
const pausedCalls = ({ request_seq }: QuestionView, calls: ReadonlyMap<string, CallView>) =>
  ring.links
    .pausedCallIds(request_seq)
    .map((id) => calls.get(id))
    .filter((call) => call !== undefined)
    .slice(-MOST_CALLS);

/** Where to go after a question whose call is not known. */
function NextSteps({ question }: { question: QuestionView | undefined }) {
  const questions = useInspector((state) => state.questions);
  const calls = useInspector((state) => state.calls);
  const waiting = waitingQuestions(questions);
  const next = waiting.find((one) => one.server_id === question?.server_id) ?? waiting[0];
  return (
    <div className="row wrap" style={{ justifyContent: "center" }}>
      {next && (
        <Button component={Link} to={pathToQuestion(next)}>
          Next question: {truncate(questionSummary(next) || next.method, 40)}
        </Button>
      )}
      {question &&
        pausedCalls(question, calls).map((call) => (
          <Button key={call.call_id} component={Link} to={pathToCall(call)} variant="default">
            Call of {truncate(call.name || call.method, 40)}, {formatTime(call.started, false)}
          </Button>
        ))}
      <Button component={Link} to="/questions" variant="default">
        All questions
      </Button>
    </div>
  );
}

export function QuestionScreen() {
  const id = usePageLocation().item ?? "";
  const navigate = useNavigate();
  const isReady = useInspector((state) => state.run_id !== null);
  const question = useInspector((state) => state.questions.get(id));
  const call = useInspector((state) => state.calls.get(question?.call_id ?? ""));
  useEffect(() => {
    document.getElementById(id)?.scrollIntoView?.({ block: "nearest" });
  }, [id]);
  // The call that repeats this one has questions of its own, or none.
  const goTo = (callId: string): void => {
    const again = useInspector.getState().calls.get(callId);
    if (again) void navigate(pathToCall(again));
  };
  if (!isReady) return <EmptyState icon="questions" title="Loading…" />;
  if (!question || (question.is_done && !call)) {
    return (
      <EmptyState
        icon="check"
        title="This question is closed"
        action={<NextSteps question={question} />}
      >
        {question?.outcome && `Outcome: ${question.outcome}.`}
      </EmptyState>
    );
  }
  return (
    <div className="pane">
      <Head question={question} call={call} />
      {call ? (
        <CallPanel key={call.call_id} call={call} questionId={id} onRepeated={goTo} />
      ) : (
        <div className="scroll pad stack">
          <p className="dim">It is not known which call this question belongs to.</p>
          <QuestionPanel key={id} question={question} />
        </div>
      )}
    </div>
  );
}
