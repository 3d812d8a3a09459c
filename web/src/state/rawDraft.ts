// The draft of the raw tester: the typed message, and one that was set aside.
import type { ServerView } from "../api/types";
import { pretty } from "../values/json";
import { readDraft, useDraft, writeDraft } from "./browserStorage";
import { isStateless, withEnvelope } from "./protocol";

// Far from the ids that mcplens counts up from 1.
const FIRST_ID = 1001;

/** A request in the server's protocol revision. */
export const requestMessage = (
  server: ServerView,
  method: string,
  params: Record<string, unknown> = {},
  id = FIRST_ID,
): string =>
  pretty({ jsonrpc: "2.0", id, method, params: withEnvelope(params, server, "mcplens") });

const OF_CAPABILITY: Record<string, [method: string, params: Record<string, unknown>][]> = {
  tools: [
    ["tools/list", {}],
    ["tools/call", { name: "", arguments: {} }],
  ],
  resources: [
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "" }],
  ],
  prompts: [
    ["prompts/list", {}],
    ["prompts/get", { name: "", arguments: {} }],
  ],
};

/** Requests that the server declared to answer, each with an id that none was sent with from here. */
export function exampleMessages(
  server: ServerView,
  sentCount: number,
): { method: string; text: string }[] {
  const offered = Object.keys(OF_CAPABILITY).filter((name) => name in server.capabilities);
  const all = offered.flatMap((name) => OF_CAPABILITY[name] ?? []);
  return [[simplestMethod(server), {}] as const, ...all].map(([method, params]) => ({
    method,
    text: requestMessage(server, method, params, FIRST_ID + sentCount),
  }));
}

/** A request that every server of this protocol revision answers: 2026-07-28 has no ping. */
export const simplestMethod = (server: ServerView): string =>
  isStateless(server) ? "server/discover" : "ping";

/** The tester's initial message, and its preset. */
export const initialMessage = (server: ServerView): string =>
  requestMessage(server, simplestMethod(server));

export interface RawMessage {
  text: string;
  headers: [string, string][];
}

export interface StashedMessage {
  /** What was typed before. */
  former: RawMessage;
  /** The text that took its place. */
  placed: string;
}

const NO_HEADERS: RawMessage["headers"] = [];

const keysOf = (serverId: string) => ({
  text: `raw.${serverId}`,
  headers: `raw.${serverId}.headers`,
  aside: `raw.${serverId}.aside`,
});

/**
 * What is set aside when a text replaces a message, so that typed input is not lost. `now` is null
 * if nothing was typed.
 */
export function stash(
  now: RawMessage | null,
  aside: StashedMessage | null,
  placed: string,
): StashedMessage | null {
  if (now && ![placed, aside?.placed].includes(now.text)) return { former: now, placed };
  return aside && { ...aside, placed };
}

/** Fill in the tester's message from another screen. */
export function fillRawDraft(serverId: string, text: string): void {
  const keys = keysOf(serverId);
  const typed = readDraft<string | null>(keys.text, null);
  const now = typed === null ? null : { text: typed, headers: readDraft(keys.headers, NO_HEADERS) };
  writeDraft(keys.aside, stash(now, readDraft<StashedMessage | null>(keys.aside, null), text));
  writeDraft(keys.text, text);
}

export interface RawDraft extends RawMessage {
  setText(text: string): void;
  setHeaders(headers: [string, string][]): void;
  /** Replace the message; the headers stay unless given. */
  place(text: string, headers?: [string, string][]): void;
  aside: StashedMessage | null;
  bringBack(): void;
}

export function useRawDraft(server: ServerView): RawDraft {
  const keys = keysOf(server.server_id);
  const template = initialMessage(server);
  const [typed, setText] = useDraft<string | null>(keys.text, null);
  const [headers, setHeaders] = useDraft(keys.headers, NO_HEADERS);
  const [aside, setAside] = useDraft<StashedMessage | null>(keys.aside, null);
  const text = typed ?? template;
  return {
    text,
    headers,
    setText,
    setHeaders,
    place: (next, given) => {
      setAside(stash(text === template ? null : { text, headers }, aside, next));
      setText(next);
      if (given) setHeaders(given);
    },
    aside,
    bringBack: () => {
      if (!aside) return;
      setText(aside.former.text);
      setHeaders(aside.former.headers);
      setAside(null);
    },
  };
}

/** The headers of a call; a secret one keeps the value that is typed now, if any. */
export function restoreHeaders(
  given: Record<string, string>,
  typed: [string, string][],
): [string, string][] {
  const values = new Map(typed);
  return Object.entries(given).map(([name, value]) => [name, value || (values.get(name) ?? "")]);
}
