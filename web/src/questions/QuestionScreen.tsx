// A question on a screen of its own, reached from the bell.
import { Button } from "@mantine/core";
import { Link, useParams } from "react-router";
import { Empty } from "../parts/Empty";
import { pathTo } from "../state/selection";
import { useInspector } from "../state/store";
import { QuestionPanel } from "./QuestionPanel";

export function QuestionScreen() {
  const { question: id = "" } = useParams();
  const questions = useInspector((state) => state.questions);
  const question = questions.get(id);
  if (!question || question.is_done) {
    return (
      <Empty
        icon="check"
        title="This question is answered"
        action={
          <Button component={Link} to="/servers" variant="default">
            Go to the servers
          </Button>
        }
      >
        {question?.outcome ? `It ended: ${question.outcome}.` : "It no longer waits."}
      </Empty>
    );
  }
  return (
    <div className="scroll pad" style={{ height: "100%" }}>
      <div className="stack" style={{ maxWidth: 860, margin: "0 auto" }}>
        <div className="row">
          <h1 className="title grow">A question of {question.server_id}</h1>
          <Link to={pathTo(question.server_id, "tools")}>Tools of this server</Link>
        </div>
        <QuestionPanel key={id} question={question} />
      </div>
    </div>
  );
}
