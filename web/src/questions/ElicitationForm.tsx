// A server asks a person to fill in a form. Three answers: accept, decline, cancel.
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { type Arguments, ArgumentsEditor, NO_ARGUMENTS } from "../forms/ArgumentsEditor";
import { validate } from "../forms/validate";
import { Callout } from "../parts/Callout";
import { JsonTree } from "../parts/JsonTree";
import { fieldsOf } from "../parts/shape";
import { parseJson } from "../parts/text";
import { command } from "../state/connection";
import { formOddity } from "./asked";
import { useAnswerDraft } from "./drafts";
import type { AnswerProps } from "./QuestionPanel";
import css from "./QuestionPanel.module.css";
import { Said } from "./Said";

const AS_JSON: Arguments = { text: "{}", mode: "json" };

export function ElicitationForm({ question, send }: AnswerProps) {
  const { question_id, server_id, server_name, params } = question;
  const { requestedSchema } = fieldsOf(params);
  const failure = useMemo(() => formOddity(params), [params]);
  const [draft, setDraft] = useAnswerDraft(question, failure ? AS_JSON : NO_ARGUMENTS);
  const [isTried, setTried] = useState(false);
  const parsed = useMemo(() => parseJson(draft.text ?? "{}"), [draft.text]);
  const findings = useMemo(
    () => (parsed.ok ? validate(requestedSchema ?? {}, parsed.value) : []),
    [parsed, requestedSchema],
  );
  const text = draft.text ?? "{}";
  const submit = (isForced: boolean): void => {
    setTried(true);
    if (!parsed.ok || (findings.length && !isForced)) return;
    send((force) =>
      command(
        "AnswerElicitation",
        { question_id, action: "accept", force: force || isForced },
        { content: text },
      ),
    );
  };
  const answer = (action: "decline" | "cancel"): void =>
    send((force) => command("AnswerElicitation", { question_id, action, force }));
  return (
    <div className="stack">
      <Said message={fieldsOf(params).message} />
      {failure && (
        <>
          <Callout>{failure} Answer as JSON. This is what was asked:</Callout>
          <JsonTree value={params} label="Request" most={260} withSearch={false} />
        </>
      )}
      <ArgumentsEditor
        name={`answer-${question_id}`}
        title="Your answer"
        schema={requestedSchema ?? {}}
        value={draft}
        findings={isTried ? findings : []}
        onChange={setDraft}
      />
      {!parsed.ok && <Callout>The JSON is not complete: {parsed.problem}</Callout>}
      <Callout>
        Server “{server_name || server_id}” asks for this data. Do not enter passwords or keys.
      </Callout>
      <div className={css.buttons}>
        {isTried && findings.length > 0 && (
          <Button variant="default" onClick={() => submit(true)}>
            Send anyway
          </Button>
        )}
        <Button
          variant="subtle"
          onClick={() =>
            send((force) =>
              command("AutoRespond", { question_id, profile: "auto", options: { force } }),
            )
          }
        >
          Auto-respond
        </Button>
        <Button variant="default" onClick={() => answer("cancel")}>
          Cancel
        </Button>
        <Button variant="default" onClick={() => answer("decline")}>
          Decline
        </Button>
        <Button data-answer disabled={!parsed.ok} onClick={() => submit(false)}>
          Submit
        </Button>
      </div>
    </div>
  );
}
