// The item that a message names, and a preview of its payload, both from its first bytes. A preview
// is what a person looks for: arguments, text, names; not the envelope and not `_meta`.
import type { EventView } from "../../api/types";
import {
  type JsonPart,
  readItems,
  readMembers,
  readString,
  readText,
} from "../../values/partialJson";
import { type LabelParts, labelParts } from "./eventLabel";

// The member of the params that names the item.
const NAMES = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["resources/subscribe", "uri"],
  ["resources/unsubscribe", "uri"],
  ["notifications/resources/updated", "uri"],
]);
const ENVELOPE = new Set(["jsonrpc", "id", "method"]);
// Members that say nothing about this message: how long a list may be cached, where its next page is.
const BOILERPLATE = new Set([
  "_meta",
  "resultType",
  "ttlMs",
  "cacheScope",
  "nextCursor",
  "cursor",
  "isError",
  "jsonrpc",
]);
// Params that are the same in every session of a client.
const HANDSHAKE = new Set(["initialize", "server/discover"]);
const LISTS = ["tools", "resources", "resourceTemplates", "prompts", "tasks", "roots"];
// Enough for the widest column.
const LONGEST = 300;

type Members = Map<string, JsonPart>;

const FRAMES = [
  "FrameSent",
  "FrameReceived",
  "InboundReceived",
  "AppMessageReceived",
  "AppMessageSent",
];

const isFrame = ({ kind }: EventView): boolean => FRAMES.includes(kind);

const membersOf = (part: JsonPart | undefined): Members => readMembers(part?.text ?? "");

function completed(params: Members): string | null {
  const ref = membersOf(params.get("ref"));
  return readString(ref.get("name")) ?? readString(ref.get("uri"));
}

/** The tool, resource or prompt that a message names; null if it is not in the first bytes. */
export function targetOf(event: EventView): string | null {
  const { method, status } = event;
  if (!isFrame(event) || !method || (status !== "request" && status !== "notification"))
    return null;
  const name = NAMES.get(method);
  if (name === undefined && method !== "completion/complete") return null;
  const params = membersOf(readMembers(event.head).get("params"));
  return name === undefined ? completed(params) : readString(params.get(name));
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** A value in one line: text in quotes, everything else as JSON. */
const valueWords = ({ text, isWhole }: JsonPart): string => oneLine(text) + (isWhole ? "" : "…");

/** Members as `name: value`, without boilerplate. */
function memberWords(members: Members, left: readonly string[] = []): string {
  const words: string[] = [];
  for (const [name, part] of members)
    if (!BOILERPLATE.has(name) && !left.includes(name)) words.push(`${name}: ${valueWords(part)}`);
  return words.join(", ");
}

const quoted = (text: string, isWhole: boolean): string =>
  `"${oneLine(text)}${isWhole ? '"' : "…"}`;

/** One content block: its text, else what kind it is. */
function blockWords(part: JsonPart): string {
  const block = readMembers(part.text);
  const text = block.get("text");
  const words = readText(text);
  if (words !== null) return quoted(words, text?.isWhole === true);
  const inner = block.get("content") ?? block.get("resource");
  const type = readString(block.get("type"));
  if (inner && type !== "resource") return blockWords(inner);
  const uri = readString(block.get("uri")) ?? readString(membersOf(inner).get("uri"));
  return [type, uri ?? readString(block.get("mimeType"))].filter(Boolean).join(" ");
}

/** The items of a list that are texts, and the names of others. */
function listWords(part: JsonPart): string {
  const names = readItems(part.text).map((one) => {
    const item = readMembers(one.text);
    const named = ["name", "uri", "taskId"].map((key) => readString(item.get(key)));
    return readString(one) ?? named.find(Boolean);
  });
  const known = names.filter(Boolean).join(", ");
  if (part.isWhole) return known || "none";
  return known ? `${known}, …` : "…";
}

function serverWords(result: Members): string {
  const info = membersOf(result.get("serverInfo"));
  const name = [readString(info.get("name")), readString(info.get("version"))];
  const version = readString(result.get("protocolVersion"));
  const versions = readItems(result.get("supportedVersions")?.text ?? "").map(readString);
  return [name.filter(Boolean).join(" "), version, versions.filter(Boolean).join(", ")]
    .filter(Boolean)
    .join(" · ");
}

/** What a call asks before it can go on. */
function inputWords(requests: JsonPart): string {
  const asked = [...readMembers(requests.text).values()].map((part) => {
    const request = readMembers(part.text);
    return questionWords(membersOf(request.get("params"))) ?? readString(request.get("method"));
  });
  return `asks: ${asked.filter(Boolean).join(" · ") || "…"}`;
}

function resultWords(result: Members): string {
  const asked = result.get("inputRequests");
  if (asked) return inputWords(asked);
  const shown = result.get("content") ?? result.get("contents") ?? result.get("messages");
  if (shown) {
    const blocks = shown.text.startsWith("[") ? readItems(shown.text) : [shown];
    const words = blocks.map(blockWords).filter(Boolean).join(" · ");
    if (words) return words;
  }
  const structured = result.get("structuredContent");
  if (structured) return memberWords(membersOf(structured)) || valueWords(structured);
  const list = LISTS.map((name) => result.get(name)).find(Boolean);
  if (list) return listWords(list);
  const offered = membersOf(result.get("completion")).get("values");
  if (offered) return listWords(offered);
  return serverWords(result) || memberWords(result);
}

function errorWords(error: Members): string {
  const message = readText(error.get("message"));
  const code = error.get("code");
  return [message && oneLine(message), code?.isWhole && `(${code.text})`].filter(Boolean).join(" ");
}

/** What the server asks: the message of a form, the last text for a model. */
function questionWords(params: Members): string | null {
  const message = readText(params.get("message"));
  if (message !== null) return oneLine(message);
  const messages = params.get("messages");
  const last = messages && readItems(messages.text).at(-1);
  return last ? blockWords(last) : null;
}

/** The argument that a completion is asked for, with what was typed of it so far. */
function typedWords(params: Members): string {
  const argument = membersOf(params.get("argument"));
  const [name, value] = [readString(argument.get("name")), argument.get("value")];
  return name && value ? `${name}: ${valueWords(value)}` : "";
}

function requestWords(method: string | null, params: Members): string {
  if (HANDSHAKE.has(method ?? "")) return "";
  if (method === "completion/complete") {
    const words = typedWords(params);
    if (words) return words;
  }
  if (method === "elicitation/create" || method === "sampling/createMessage") {
    const words = questionWords(params);
    if (words) return words;
  }
  if (method === "notifications/message") {
    const data = params.get("data");
    if (data) return readText(data) ?? valueWords(data);
  }
  const named = NAMES.get(method ?? "");
  const args = params.get("arguments");
  const rest = memberWords(params, ["arguments", ...(named ? [named] : [])]);
  const given = args ? memberWords(membersOf(args)) : "";
  return [given, rest].filter(Boolean).join(", ");
}

function frameWords(event: EventView): string {
  const members = readMembers(event.head);
  const [params, result, error] = ["params", "result", "error"].map((name) => members.get(name));
  if (error) return errorWords(membersOf(error)) || valueWords(error);
  if (result) return resultWords(membersOf(result));
  if (params) return requestWords(event.method, membersOf(params));
  const isBare = members.size > 0 && [...members.keys()].every((name) => ENVELOPE.has(name));
  return isBare ? "" : oneLine(event.head);
}

// Events that have the bytes of a message.
const CARRIES = new Set([...FRAMES, "ReplyUnmatched", "LateReply"]);

// Rows are drawn again and again, events never change.
const previews = new WeakMap<EventView, string>();

/** Beginning of a message's payload, without what its row already says. */
export function previewOf(event: EventView): string {
  const known = previews.get(event);
  if (known !== undefined) return known;
  const isMessage =
    CARRIES.has(event.kind) && event.status !== "malformed" && event.status !== "batch";
  let words = isMessage ? frameWords(event) : oneLine(event.head);
  if (event.status === "malformed" && words) words = quoted(words, event.size_bytes < LONGEST);
  if (words.length > LONGEST) words = `${words.slice(0, LONGEST)}…`;
  previews.set(event, words);
  return words;
}

/** The label of an event with the item that it names; of a reply with that of its request. */
export function titleParts(event: EventView, request = event): LabelParts {
  const { name, outcome } = labelParts(event);
  return { name: [name, targetOf(request)].filter(Boolean).join(" "), outcome };
}

/** The parts of a title as one text. */
export function eventTitle(event: EventView): string {
  const { name, outcome } = titleParts(event);
  return [name, outcome].filter(Boolean).join(" ");
}
