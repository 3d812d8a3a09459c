// Questions of all servers: waiting ones, those of known calls first, then closed ones.
import { Badge } from "@mantine/core";
import { Link } from "react-router";
import type { QuestionView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { useNow } from "../../components/useNow";
import { ShowMore } from "../../content/ShowMore";
import { questionSummary } from "../../questions/questionSummary";
import { endUnanswered, waitingQuestions } from "../../questions/waitingQuestions";
import { pathToQuestion } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { formatDuration, formatTime, truncate } from "../../values/format";

const COLUMNS = 6;

function Row({ question, now }: { question: QuestionView; now: number }) {
  const call = useInspector(({ calls }) => calls.get(question.call_id ?? ""));
  const outcome = question.outcome ?? "ended";
  // Why it was rejected is for the answer's column.
  const [state, ...reason] = question.is_done ? outcome.split(": ") : ["waiting"];
  return (
    <tr>
      <td>
        <Badge
          miw={76}
          title={question.is_done ? outcome : undefined}
          color={question.is_done ? "gray" : "orange"}
        >
          {state}
        </Badge>
      </td>
      <td>
        <Link className="mono" to={pathToQuestion(question)}>
          {question.method}
        </Link>
        <div className="dim">{truncate(questionSummary(question), 120)}</div>
      </td>
      <td>{question.server_id}</td>
      <td className="wide-only">
        {question.call_id === null ? (
          <span className="dim">not known</span>
        ) : (
          <span className="mono">{call && (call.name || call.method)}</span>
        )}
      </td>
      <td className="wide-only">{formatTime(question.opened, false)}</td>
      <td className="wide-only">
        {question.is_done
          ? [question.answered_by && `by ${question.answered_by}`, reason.join(": ")]
              .filter(Boolean)
              .join(": ")
          : question.deadline !== null
            ? `${endUnanswered(question)} in ${formatDuration(Math.max(0, question.deadline - now))}`
            : ""}
      </td>
    </tr>
  );
}

export function Questions() {
  const isReady = useInspector((state) => state.run_id !== null);
  const all = useInspector((state) => state.questions);
  const waiting = waitingQuestions(all);
  const ended = [...all.values()].filter((question) => question.is_done).reverse();
  const now = useNow(waiting.length > 0);
  if (!isReady) return <EmptyState icon="questions" title="Loading…" />;
  if (!all.size)
    return (
      <EmptyState icon="questions" title="No questions">
        Servers ask for a model's answer or for input while a tool runs. What they ask appears here,
        at the top of the page and beside the call.
      </EmptyState>
    );
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Questions</h1>
        <span className="dim">
          {waiting.length.toLocaleString("en")} waiting, {ended.length.toLocaleString("en")} ended
        </span>
      </div>
      <div className="scroll">
        <table className="plain">
          <thead>
            <tr>
              <th>State</th>
              <th>Question</th>
              <th>Server</th>
              <th className="wide-only">Call</th>
              <th className="wide-only">Asked</th>
              <th className="wide-only">Answer</th>
            </tr>
          </thead>
          <tbody>
            <ShowMore
              items={[...waiting, ...ended]}
              noun="question"
              render={(question) => (
                <Row key={question.question_id} question={question} now={now} />
              )}
              wrapButton={(more) => (
                <tr>
                  <td colSpan={COLUMNS}>{more}</td>
                </tr>
              )}
            />
          </tbody>
        </table>
      </div>
    </div>
  );
}
