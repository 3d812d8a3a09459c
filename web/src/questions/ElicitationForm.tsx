// A server asks a person to fill in a form. Three answers: accept, decline, cancel.
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { ButtonWithReason } from "../components/ButtonWithReason";
import { Callout } from "../components/Callout";
import { type Arguments, ArgumentsEditor, NO_ARGUMENTS } from "../forms/ArgumentsEditor";
import { useExample } from "../forms/useExample";
import { useFindings } from "../forms/useFindings";
import { invalidFieldsLabel, shownFindings } from "../forms/validate";
import { command } from "../state/commands";
import { fieldsOf } from "../values/jsonObject";
import { AnswerBar, RefuseButtons } from "./AnswerBar";
import { useAnswerDraft } from "./answerDrafts";
import { ElicitationMessage } from "./ElicitationMessage";
import type { AnswerProps } from "./QuestionPanel";
import css from "./QuestionPanel.module.css";
import { formProblem } from "./questionParams";
import { askerName } from "./questionSummary";
import { WholeRequest } from "./RequestParams";

const AS_JSON: Arguments = { text: "{}", mode: "json" };

export function ElicitationForm({ question, send, edited, note }: AnswerProps) {
  const { question_id, params } = question;
  const { requestedSchema } = fieldsOf(params);
  const failure = useMemo(() => formProblem(params), [params]);
  const first = failure ? AS_JSON : NO_ARGUMENTS;
  const [draft, setDraft] = useAnswerDraft(question, first, edited);
  const [isTried, setTried] = useState(false);
  const [refused, setRefused] = useState(0);
  const example = useExample(requestedSchema ?? {}, draft, setDraft);
  const { parsed, findings, unchecked, asTyped } = useFindings(requestedSchema, draft);
  const shown = shownFindings(findings, isTried);
  // Without a text the defaults are not filled in yet.
  const isReady = parsed.ok && draft.text !== null;
  const disabledReason = parsed.ok ? "The form is loading" : "The JSON is not complete";
  const submit = (isForced: boolean): void => {
    setTried(true);
    if (!isReady || (findings.length && !isForced)) {
      setRefused(refused + 1);
      return;
    }
    send((force) =>
      command(
        "AnswerElicitation",
        { question_id, action: "accept", force: force || isForced },
        { content: asTyped },
      ),
    );
  };
  const answer = (action: "decline" | "cancel"): void =>
    send((force) => command("AnswerElicitation", { question_id, action, force }));
  return (
    <div className="stack">
      <ElicitationMessage message={fieldsOf(params).message} />
      {failure && (
        <Callout>{failure} Answer as JSON. The whole request shows what was asked.</Callout>
      )}
      <WholeRequest question={question} isOdd={failure !== null} />
      <ArgumentsEditor
        name={`answer-${question_id}`}
        title="Your answer"
        schema={requestedSchema ?? {}}
        value={draft}
        findings={isTried ? findings : []}
        unchecked={unchecked}
        refused={refused}
        onChange={setDraft}
        action={
          example && (
            <Button variant="subtle" px="xs" onClick={example.put}>
              {example.isPut ? "Undo the example" : "Fill with an example"}
            </Button>
          )
        }
      />
      {!parsed.ok && <Callout>The JSON is not complete: {parsed.problem}</Callout>}
      <Callout>
        Server “{askerName(question)}” asks for this data. Do not enter passwords or keys.
      </Callout>
      <AnswerBar note={note}>
        {shown.length > 0 && (
          <>
            <span className={`bad cut small ${css.invalid}`} role="status">
              {invalidFieldsLabel(shown)}
            </span>
            <Button variant="default" onClick={() => submit(true)}>
              Send anyway
            </Button>
          </>
        )}
        <RefuseButtons onChoose={answer} />
        <ButtonWithReason
          data-answer
          disabledReason={isReady ? null : disabledReason}
          onClick={() => submit(false)}
        >
          Submit
        </ButtonWithReason>
      </AnswerBar>
    </div>
  );
}
