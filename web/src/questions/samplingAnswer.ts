// Builds a CreateMessageResult from the form. Numbers are not parsed, since they could lose digits.
import { encode } from "../api/socket";
import { pretty } from "../values/json";
import { fieldsOf, type JsonObject } from "../values/jsonObject";
import { toolUseIds } from "./questionParams";

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

export interface DraftProps {
  draft: SamplingDraft;
  set(part: Partial<SamplingDraft>): void;
}

export const STOP_REASONS = ["endTurn", "stopSequence", "maxTokens", "toolUse"];

const EMPTY = new Map<unknown, unknown>(
  Object.entries({ string: "", number: 0, integer: 0, boolean: false, array: [], object: {} }),
);

function exampleOf(field: JsonObject): unknown {
  if ("const" in field) return field.const;
  if (Array.isArray(field.enum)) return field.enum[0] ?? null;
  return EMPTY.get(field.type) ?? null;
}

/** Initial input of a tool call: the schema's defaults and required fields. */
export function inputFor(schema: unknown): string {
  const { properties, required } = fieldsOf(schema);
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const begun = Object.entries(fieldsOf(properties)).flatMap(([name, given]) => {
    const field = fieldsOf(given);
    if (field.default !== undefined) return [[name, field.default]];
    return isRequired(name) ? [[name, exampleOf(field)]] : [];
  });
  return pretty(Object.fromEntries(begun));
}

/** The first ids `call_1`, `call_2`, … that no message of the request has used. */
function freshIds(params: unknown, count: number): string[] {
  const used = toolUseIds(params);
  const ids: string[] = [];
  for (let number = 1; ids.length < count; number += 1)
    if (!used.has(`call_${number}`)) ids.push(`call_${number}`);
  return ids;
}

/** Whether the response is empty. */
export const isEmpty = ({ text, stopReason, toolCalls }: SamplingDraft): boolean =>
  text === "" && !(stopReason === "toolUse" && toolCalls.length > 0);

/** The result as JSON text, with tool inputs exactly as typed. */
export function resultOf(draft: SamplingDraft, params: unknown): string {
  const text = JSON.stringify({ type: "text", text: draft.text });
  const base = { role: "assistant", model: draft.model, stopReason: draft.stopReason };
  if (draft.stopReason !== "toolUse") return encode(base, { content: text });
  const ids = freshIds(params, draft.toolCalls.length);
  const calls = draft.toolCalls.map(({ name, input }, index) =>
    encode({ type: "tool_use", id: ids[index], name }, { input: input.trim() || "{}" }),
  );
  const blocks = draft.text ? [text, ...calls] : calls;
  return encode(base, { content: `[${blocks.join(",")}]` });
}
