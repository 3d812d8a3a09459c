// The message of the raw tester: what is typed, and what was put aside for something else.
import type { ServerView } from "../api/types";
import { pretty } from "../values/json";
import { keepDraft, readDraft, useDraft } from "./remembered";
import { enveloped, isStateless } from "./revision";

// Far from those that mcplens counts up from 1.
const FIRST_ID = 1001;

/** A request that this server understands in its revision. */
export const messageFor = (server: ServerView, method: string): string =>
  pretty({ jsonrpc: "2.0", id: FIRST_ID, method, params: enveloped({}, server, "mcplens") });

/** What the tester begins with: a question that every server answers. */
export const templateFor = (server: ServerView): string =>
  messageFor(server, isStateless(server) ? "server/discover" : "ping");

export interface Message {
  text: string;
  headers: [string, string][];
}

export interface Aside {
  /** What was typed before. */
  former: Message;
  /** The text that took its place. */
  placed: string;
}

const NO_HEADERS: Message["headers"] = [];

const keysOf = (serverId: string) => ({
  text: `raw.${serverId}`,
  headers: `raw.${serverId}.headers`,
  aside: `raw.${serverId}.aside`,
});

/** What is aside once a text takes the place of a message: nobody loses what he typed himself.
 * `now` is null where nothing was typed. */
export function asideOf(now: Message | null, aside: Aside | null, placed: string): Aside | null {
  if (now && ![placed, aside?.placed].includes(now.text)) return { former: now, placed };
  return aside && { ...aside, placed };
}

/** Fill in a message for the tester, which is not shown now. */
export function placeMessage(serverId: string, text: string): void {
  const keys = keysOf(serverId);
  const typed = readDraft<string | null>(keys.text, null);
  const now = typed === null ? null : { text: typed, headers: readDraft(keys.headers, NO_HEADERS) };
  keepDraft(keys.aside, asideOf(now, readDraft<Aside | null>(keys.aside, null), text));
  keepDraft(keys.text, text);
}

export interface RawMessage extends Message {
  setText(text: string): void;
  setHeaders(headers: [string, string][]): void;
  /** Take in another message; the headers stay if it has none of its own. */
  place(text: string, headers?: [string, string][]): void;
  aside: Aside | null;
  bringBack(): void;
}

export function useMessage(server: ServerView): RawMessage {
  const keys = keysOf(server.server_id);
  const template = templateFor(server);
  const [typed, setText] = useDraft<string | null>(keys.text, null);
  const [headers, setHeaders] = useDraft(keys.headers, NO_HEADERS);
  const [aside, setAside] = useDraft<Aside | null>(keys.aside, null);
  const text = typed ?? template;
  return {
    text,
    headers,
    setText,
    setHeaders,
    place: (next, given) => {
      setAside(asideOf(text === template ? null : { text, headers }, aside, next));
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

/** The headers that a call was given; a secret one keeps the value that is typed now, if any is. */
export function headersAgain(
  given: Record<string, string>,
  typed: [string, string][],
): [string, string][] {
  const values = new Map(typed);
  return Object.entries(given).map(([name, value]) => [name, value || (values.get(name) ?? "")]);
}
