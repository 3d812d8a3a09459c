// A sampling request: shown whole, answered by the user or by a profile.
import { Button, Select, Tooltip } from "@mantine/core";
import { useMemo, useRef, useState } from "react";
import { ButtonWithReason } from "../components/ButtonWithReason";
import { command } from "../state/commands";
import { useInspector } from "../state/store";
import { parseJson } from "../values/json";
import { AnswerBar } from "./AnswerBar";
import { useAnswerDraft } from "./answerDrafts";
import { AUTO, profileDescription, profileOption } from "./profiles";
import type { AnswerProps } from "./QuestionPanel";
import { parseSampling } from "./questionParams";
import { useExactParams } from "./RequestParams";
import { SamplingRequest } from "./SamplingRequest";
import { ResponseFields } from "./SamplingResponse";
import { ToolChoice } from "./SamplingTools";
import { type DraftProps, inputFor, isEmpty, resultOf, type SamplingDraft } from "./samplingAnswer";
import { ToolCalls } from "./ToolCalls";

export function Sampling({ question, send, edited, note }: AnswerProps) {
  const { value: params } = useExactParams(question);
  const asked = useMemo(() => parseSampling(params), [params]);
  const first: SamplingDraft = {
    text: "",
    model: "mock-model-1.0",
    stopReason: "endTurn",
    toolCalls: [],
    toolChoice: asked.toolChoice,
    tool: null,
    profile: question.profile ?? "manual",
  };
  const [draft, setDraft] = useAnswerDraft(question, first, edited);
  const set = (part: Partial<SamplingDraft>): void => setDraft({ ...draft, ...part });
  const hasTools = asked.tools.length > 0;
  const field = useRef<HTMLTextAreaElement>(null);
  const [isTried, setTried] = useState(false);
  const isRefused = isTried && isEmpty(draft);
  const [isToolCalled, setToolCalled] = useState(false);
  const answerByTool = (): void => {
    const [one] = asked.tools;
    if (!one) return;
    const begun = { name: one.name, input: inputFor(one.inputSchema) };
    set({
      stopReason: "toolUse",
      toolCalls: draft.toolCalls.length ? draft.toolCalls : [begun],
    });
    setToolCalled(true);
  };
  const refuse = (): void => {
    setTried(true);
    field.current?.focus();
  };
  return (
    <div className="stack">
      <SamplingRequest asked={asked} question={question} />
      {hasTools && (
        <ToolChoice tools={asked.tools} draft={draft} set={set} onToolCall={answerByTool} />
      )}
      <ResponseFields
        draft={draft}
        set={set}
        field={field}
        problem={isRefused ? "The response is empty." : null}
      >
        <Profile draft={draft} set={set} />
      </ResponseFields>
      {draft.stopReason === "toolUse" && (
        <ToolCalls
          tools={asked.tools}
          calls={draft.toolCalls}
          isWanted={isToolCalled}
          onChange={(toolCalls) => set({ toolCalls })}
        />
      )}
      <Buttons
        question={question}
        send={send}
        note={note}
        draft={draft}
        hasTools={hasTools}
        isRefused={isRefused}
        refuse={refuse}
      />
    </div>
  );
}

/** The profile for Auto-respond; "manual" means the user. */
const responderOf = ({ profile }: SamplingDraft): string => (profile === "manual" ? AUTO : profile);

function Profile({ draft, set }: DraftProps) {
  const profiles = useInspector((state) => state.profiles);
  const known = profiles.filter((one) => one.problem === null).map((one) => one.name);
  const responder = responderOf(draft);
  const words = profileDescription(responder, profiles);
  return (
    <Select
      label="Testing profile"
      // Below, so that the fields of this row stand in one line.
      inputWrapperOrder={["label", "input", "description"]}
      description={`Auto-respond uses ${responder}${words && `, which ${words}`}.`}
      data={[...new Set(["manual", ...known, draft.profile])]}
      renderOption={profileOption(profiles)}
      allowDeselect={false}
      value={draft.profile}
      onChange={(profile) => set({ profile: profile ?? "manual" })}
    />
  );
}

interface ButtonsProps extends Pick<AnswerProps, "question" | "send" | "note"> {
  draft: SamplingDraft;
  hasTools: boolean;
  /** An empty answer was refused. */
  isRefused: boolean;
  refuse(): void;
}

function Buttons(props: ButtonsProps) {
  const { question, send, note, draft, hasTools, isRefused, refuse } = props;
  const { question_id } = question;
  const isBroken =
    draft.stopReason === "toolUse" &&
    draft.toolCalls.some((call) => !parseJson(call.input.trim() || "{}").ok);
  const reason = "The user rejected the sampling request";
  const choice = hasTools ? { tool_choice: draft.toolChoice } : {};
  const tool = draft.toolChoice === "specific" && draft.tool ? { tool: draft.tool } : {};
  const profile = responderOf(draft);
  const answer = (force: boolean): Promise<unknown> =>
    command("AnswerSampling", { question_id, force }, { result: resultOf(draft, question.params) });
  const respond = (force: boolean): Promise<unknown> =>
    command("AutoRespond", { question_id, profile, options: { ...choice, ...tool, force } });
  return (
    <AnswerBar note={note}>
      {isRefused && (
        <Button variant="default" onClick={() => send(answer)}>
          Send empty
        </Button>
      )}
      <Tooltip label={`Let the profile ${profile} answer`}>
        <Button variant="subtle" onClick={() => send(respond)}>
          Auto-respond{profile === draft.profile ? "" : ` (${profile})`}
        </Button>
      </Tooltip>
      <Button
        variant="default"
        onClick={() => send(() => command("RejectQuestion", { question_id, reason }))}
      >
        Reject
      </Button>
      <ButtonWithReason
        data-answer
        disabledReason={isBroken ? "The input of a tool call is not JSON" : null}
        onClick={() => (isEmpty(draft) ? refuse() : send(answer))}
      >
        Edit & Send
      </ButtonWithReason>
    </AnswerBar>
  );
}
