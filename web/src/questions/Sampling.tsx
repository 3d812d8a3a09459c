// A server asks for a model's answer: the whole request, and a person or a profile who answers.
import {
  ActionIcon,
  Autocomplete,
  Badge,
  Button,
  Checkbox,
  Select,
  Textarea,
  TextInput,
} from "@mantine/core";
import { Message } from "../calls/Message";
import { Icon } from "../parts/icons";
import { copy, parseJson } from "../parts/text";
import { command } from "../state/connection";
import { useDraft } from "../state/remembered";
import { useInspector } from "../state/store";
import type { AnswerProps } from "./QuestionPanel";
import css from "./QuestionPanel.module.css";
import { resultOf, type SamplingDraft, STOP_REASONS } from "./samplingAnswer";
import { ToolCalls } from "./ToolCalls";

interface Params {
  messages?: { role?: unknown; content?: unknown }[];
  systemPrompt?: unknown;
  modelPreferences?: {
    hints?: { name?: unknown }[];
    costPriority?: unknown;
    speedPriority?: unknown;
    intelligencePriority?: unknown;
  };
  maxTokens?: unknown;
  temperature?: unknown;
  stopSequences?: unknown[];
  includeContext?: unknown;
  tools?: { name?: unknown; description?: unknown }[];
  toolChoice?: { mode?: unknown };
}

function Request({
  params,
  serverId,
  questionId,
}: {
  params: Params;
  serverId: string;
  questionId: string;
}) {
  const preferences = params.modelPreferences ?? {};
  const facts: [string, unknown][] = [
    ["Max tokens", params.maxTokens],
    ["Temperature", params.temperature],
    ["Stop sequences", params.stopSequences?.map((one) => JSON.stringify(one)).join(", ")],
    ["Cost", preferences.costPriority],
    ["Speed", preferences.speedPriority],
    ["Intelligence", preferences.intelligencePriority],
  ];
  return (
    <div className="stack">
      {params.systemPrompt !== undefined && (
        <div>
          <span className="section-title">System prompt</span>
          <pre className="block">{String(params.systemPrompt)}</pre>
        </div>
      )}
      {(params.messages ?? []).map((message, index) => (
        <Message
          key={index}
          role={message.role}
          content={message.content}
          callId={null}
          questionId={questionId}
          pointer={`/messages/${index}/content`}
          serverId={serverId}
        />
      ))}
      {(preferences.hints ?? []).length > 0 && (
        <div className="row wrap">
          <span className="dim">Model hints:</span>
          {(preferences.hints ?? []).map((hint, index) => (
            <Badge key={index}>{String(hint.name)}</Badge>
          ))}
        </div>
      )}
      <div className="row wrap">
        {facts.map(([name, value]) =>
          value === undefined || value === "" ? null : (
            <span key={name}>
              <span className="dim">{name}:</span> {String(value)}
            </span>
          ),
        )}
      </div>
      {params.includeContext !== undefined && (
        <Checkbox
          readOnly
          checked={params.includeContext !== "none"}
          label={`Include context: ${String(params.includeContext)}`}
          onChange={() => {}}
        />
      )}
    </div>
  );
}

export function Sampling({ question, send }: AnswerProps) {
  const { question_id, server_id } = question;
  const params = (question.params ?? {}) as Params;
  const tools = (params.tools ?? []).map((tool) => String(tool.name));
  const profiles = useInspector((state) => state.profiles);
  const known = profiles.filter((one) => one.problem === null).map((one) => one.name);
  const [draft, setDraft] = useDraft<SamplingDraft>(`question.${question_id}`, {
    text: "",
    model: "mock-model-1.0",
    stopReason: "endTurn",
    toolCalls: [],
    toolChoice: String(params.toolChoice?.mode ?? "auto"),
    tool: null,
    profile: question.profile ?? "manual",
  });
  const set = (part: Partial<SamplingDraft>): void => setDraft({ ...draft, ...part });
  const isBroken =
    draft.stopReason === "toolUse" &&
    draft.toolCalls.some((call) => !parseJson(call.input || "{}").ok);
  const respond = (): void => {
    const options = { tool_choice: draft.toolChoice, ...(draft.tool ? { tool: draft.tool } : {}) };
    send(() =>
      command("AutoRespond", {
        question_id,
        profile: draft.profile === "manual" ? "auto" : draft.profile,
        options,
      }),
    );
  };
  return (
    <div className="stack">
      <Request params={params} serverId={server_id} questionId={question_id} />
      {tools.length > 0 && (
        <div className="card stack tight">
          <span className="section-title">Tools ({tools.length})</span>
          {(params.tools ?? []).map((tool) => (
            <div key={String(tool.name)} className="row">
              <Badge>{String(tool.name)}</Badge>
              <span className="cut dim">{String(tool.description ?? "")}</span>
            </div>
          ))}
          <div className={css.grid}>
            <Select
              label="Tool choice"
              description="Steers Auto-respond only"
              data={["auto", "none", "required", "specific"]}
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
          disabled={isBroken}
          onClick={() =>
            send((force) =>
              command("AnswerSampling", { question_id, result: resultOf(draft), force }),
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
