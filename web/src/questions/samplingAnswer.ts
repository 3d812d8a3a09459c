// A CreateMessageResult from what was typed.

export interface ToolCall {
  name: string;
  input: string;
}

export interface SamplingDraft {
  text: string;
  model: string;
  stopReason: string;
  toolCalls: ToolCall[];
  toolChoice: string;
  tool: string | null;
  profile: string;
}

export const STOP_REASONS = ["endTurn", "stopSequence", "maxTokens", "toolUse"];

/** The result to send; throws where the input of a tool call is no JSON. */
export function resultOf(draft: SamplingDraft): Record<string, unknown> {
  const text = { type: "text", text: draft.text };
  const base = { role: "assistant", model: draft.model, stopReason: draft.stopReason };
  if (draft.stopReason !== "toolUse") return { ...base, content: text };
  const calls = draft.toolCalls.map(({ name, input }, index) => ({
    type: "tool_use",
    id: `call_${index + 1}`,
    name,
    input: JSON.parse(input || "{}") as unknown,
  }));
  return { ...base, content: draft.text ? [text, ...calls] : calls };
}
