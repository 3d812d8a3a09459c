// A server asks for a model's answer: the whole request, and a person or a profile who answers.
import {
  ActionIcon,
  Autocomplete,
  Badge,
  Button,
  Select,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMemo } from "react";
import { Icon } from "../parts/icons";
import { copy, parseJson } from "../parts/text";
import { command } from "../state/connection";
import { useInspector } from "../state/store";
import { samplingOf, TOOL_CHOICES } from "./asked";
import { useAnswerDraft } from "./drafts";
import type { AnswerProps } from "./QuestionPanel";
import css from "./QuestionPanel.module.css";
import { SamplingRequest } from "./SamplingRequest";
import { resultOf, type SamplingDraft, STOP_REASONS } from "./samplingAnswer";
import { ToolCalls } from "./ToolCalls";

export function Sampling({ question, send }: AnswerProps) {
  const { question_id, server_id } = question;
  const asked = useMemo(() => samplingOf(question.params), [question.params]);
  const tools = [...new Set(asked.tools.map((tool) => tool.name))];
  const profiles = useInspector((state) => state.profiles);
  const known = profiles.filter((one) => one.problem === null).map((one) => one.name);
  const [draft, setDraft] = useAnswerDraft<SamplingDraft>(question, {
    text: "",
    model: "mock-model-1.0",
    stopReason: "endTurn",
    toolCalls: [],
    toolChoice: asked.toolChoice,
    tool: null,
    profile: question.profile ?? "manual",
  });
  const set = (part: Partial<SamplingDraft>): void => setDraft({ ...draft, ...part });
  const isBroken =
    draft.stopReason === "toolUse" &&
    draft.toolCalls.some((call) => !parseJson(call.input.trim() || "{}").ok);
  const respond = (): void => {
    const choice = tools.length ? { tool_choice: draft.toolChoice } : {};
    const tool = draft.toolChoice === "specific" && draft.tool ? { tool: draft.tool } : {};
    send((force) =>
      command("AutoRespond", {
        question_id,
        profile: draft.profile === "manual" ? "auto" : draft.profile,
        options: { ...choice, ...tool, force },
      }),
    );
  };
  return (
    <div className="stack">
      <SamplingRequest
        asked={asked}
        params={question.params}
        serverId={server_id}
        questionId={question_id}
      />
      {tools.length > 0 && (
        <div className="card stack tight">
          <span className="section-title">Tools ({tools.length})</span>
          {asked.tools.map((tool, index) => (
            <div key={index} className="row">
              <Badge>{tool.name}</Badge>
              <span className="cut dim">{tool.description}</span>
            </div>
          ))}
          <div className={css.grid}>
            <Select
              label="Tool choice"
              description="Steers Auto-respond only"
              data={TOOL_CHOICES}
              allowDeselect={false}
              value={draft.toolChoice}
              onChange={(value) => set({ toolChoice: value ?? "auto" })}
            />
            {draft.toolChoice === "specific" && (
              <Select
                label="Tool to call"
                description="Used by Auto-respond"
                data={tools}
                value={draft.tool}
                onChange={(tool) => set({ tool })}
              />
            )}
          </div>
        </div>
      )}
      <Select
        label="Testing profile"
        description="Who answers when you choose Auto-respond"
        data={[...new Set(["manual", ...known, draft.profile])]}
        allowDeselect={false}
        value={draft.profile}
        onChange={(profile) => set({ profile: profile ?? "manual" })}
      />
      <Textarea
        label={
          <span className="row">
            Response
            <ActionIcon
              size="xs"
              aria-label="Copy the response"
              onClick={() => void copy(draft.text)}
            >
              <Icon name="copy" size={12} />
            </ActionIcon>
          </span>
        }
        autosize
        minRows={3}
        maxRows={16}
        value={draft.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <div className={css.grid}>
        <TextInput
          label="Model"
          value={draft.model}
          onChange={(event) => set({ model: event.currentTarget.value })}
        />
        <Autocomplete
          label="Stop reason"
          data={STOP_REASONS}
          value={draft.stopReason}
          onChange={(stopReason) => set({ stopReason })}
        />
      </div>
      {draft.stopReason === "toolUse" && (
        <ToolCalls
          tools={tools}
          calls={draft.toolCalls}
          onChange={(toolCalls) => set({ toolCalls })}
        />
      )}
      <div className={css.buttons}>
        <Button
          variant="default"
          onClick={() =>
            send(() =>
              command("RejectQuestion", {
                question_id,
                reason: "The user rejected the sampling request",
              }),
            )
          }
        >
          Reject
        </Button>
        <Button
          data-answer
          disabled={isBroken}
          onClick={() =>
            send((force) =>
              command(
                "AnswerSampling",
                { question_id, force },
                { result: resultOf(draft, question.params) },
              ),
            )
          }
        >
          Edit & Send
        </Button>
        <Button variant="light" onClick={respond}>
          Auto-respond
        </Button>
      </div>
    </div>
  );
}
