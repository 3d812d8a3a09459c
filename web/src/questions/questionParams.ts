// Parses the params of a question leniently: servers under test send anything.
import { fieldsOf, isObject, type JsonObject } from "../values/jsonObject";

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A value as text: strings as they are, anything else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

interface SamplingMessage {
  role: unknown;
  content: unknown;
}

export interface SamplingTool {
  name: string;
  description: string;
  inputSchema: unknown;
}

/** The params of `sampling/createMessage`, as far as they can be parsed. */
export interface SamplingParams {
  systemPrompt: unknown;
  messages: SamplingMessage[];
  hints: string[];
  tools: SamplingTool[];
  toolChoice: string;
  includeContext: unknown;
  facts: [string, string][];
  /** Protocol violations, one sentence each. */
  violations: string[];
}

export const TOOL_CHOICES = ["auto", "none", "required", "specific"];

const messageOf = (message: unknown): SamplingMessage =>
  isObject(message)
    ? { role: message.role, content: message.content }
    : { role: undefined, content: message };

const toolOf = (tool: unknown): SamplingTool => {
  const { name, description, inputSchema } = fieldsOf(tool);
  const said = description == null ? "" : asText(description);
  return { name: asText(name), description: said, inputSchema };
};

/** The mode, unless there are other fields. */
const choiceOf = (choice: unknown): unknown => {
  const { mode, ...more } = fieldsOf(choice);
  return typeof mode === "string" && Object.keys(more).length === 0 ? mode : choice;
};

function factsOf(params: JsonObject, preferences: JsonObject): [string, string][] {
  const stops = params.stopSequences;
  const facts: [string, unknown][] = [
    ["Max tokens", params.maxTokens],
    ["Temperature", params.temperature],
    ["Stop sequences", Array.isArray(stops) ? stops.map((one) => asText(one)).join(", ") : stops],
    ["Tool choice", choiceOf(params.toolChoice)],
    ["Cost", preferences.costPriority],
    ["Speed", preferences.speedPriority],
    ["Intelligence", preferences.intelligencePriority],
  ];
  return facts
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => [name, asText(value)]);
}

function violationsIn(params: JsonObject, preferences: JsonObject): string[] {
  const lists: [string, unknown][] = [
    ["messages", params.messages ?? null],
    ["stopSequences", params.stopSequences],
    ["tools", params.tools],
    ["modelPreferences.hints", preferences.hints],
  ];
  const found = lists
    .filter(([, value]) => value !== undefined && !Array.isArray(value))
    .map(([name]) => `${name} is not a list.`);
  if (params.modelPreferences !== undefined && !isObject(params.modelPreferences))
    found.push("modelPreferences is not an object.");
  if (listOf(params.messages).some((one) => !isObject(one)))
    found.push("A message is not an object.");
  if (listOf(params.tools).some((one) => typeof fieldsOf(one).name !== "string"))
    found.push("A tool has no name.");
  return found;
}

export function parseSampling(given: unknown): SamplingParams {
  const params = fieldsOf(given);
  const preferences = fieldsOf(params.modelPreferences);
  const mode = fieldsOf(params.toolChoice).mode;
  const tools = listOf(params.tools)
    .map(toolOf)
    .filter((tool) => tool.name);
  return {
    systemPrompt: params.systemPrompt,
    messages: listOf(params.messages).map(messageOf),
    hints: listOf(preferences.hints).map((hint) => asText(isObject(hint) ? hint.name : hint)),
    tools,
    // Without a tool nothing can be required.
    toolChoice:
      tools.length && typeof mode === "string" && TOOL_CHOICES.includes(mode) ? mode : "auto",
    includeContext: params.includeContext,
    facts: factsOf(params, preferences),
    violations: violationsIn(params, preferences),
  };
}

/** Ids of the tool_use blocks in the messages. */
export function toolUseIds(given: unknown): Set<string> {
  const blocks = parseSampling(given).messages.flatMap(({ content }) =>
    Array.isArray(content) ? content : [content],
  );
  return new Set(
    blocks
      .map(fieldsOf)
      .filter((block) => block.type === "tool_use")
      .map((block) => asText(block.id)),
  );
}

/** Problem of an elicitation schema; null if it can be shown as a form. */
export function formProblem(given: unknown): string | null {
  const params = fieldsOf(given);
  const schema = params.requestedSchema;
  if (!isObject(schema)) return "requestedSchema is not a schema.";
  const { properties } = schema;
  if (properties !== undefined && !isObject(properties))
    return "The properties of requestedSchema are not an object.";
  const broken = Object.entries(fieldsOf(properties)).find(([, field]) => !isObject(field));
  return broken ? `The field ${broken[0]} of requestedSchema is not a schema.` : null;
}
