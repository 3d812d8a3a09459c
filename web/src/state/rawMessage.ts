// The message of the raw tester: what is typed, and what was put aside for something else.
import { keepDraft, readDraft, useDraft } from "./remembered";

export const TEMPLATE = `{
  "jsonrpc": "2.0",
  "id": 1001,
  "method": "ping",
  "params": {}
}`;

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

const EMPTY: Message = { text: TEMPLATE, headers: [] };

const keysOf = (serverId: string) => ({
  text: `raw.${serverId}`,
  headers: `raw.${serverId}.headers`,
  aside: `raw.${serverId}.aside`,
});

/** What is aside once a text takes the place of a message: nobody loses what he typed himself. */
export function asideOf(now: Message, aside: Aside | null, placed: string): Aside | null {
  const isOwn = ![TEMPLATE, placed, aside?.placed].includes(now.text);
  if (isOwn) return { former: now, placed };
  return aside && { ...aside, placed };
}

/** Fill in a message for the tester, which is not shown now. */
export function placeMessage(serverId: string, text: string): void {
  const keys = keysOf(serverId);
  const now: Message = {
    text: readDraft(keys.text, EMPTY.text),
    headers: readDraft(keys.headers, EMPTY.headers),
  };
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

export function useMessage(serverId: string): RawMessage {
  const keys = keysOf(serverId);
  const [text, setText] = useDraft(keys.text, EMPTY.text);
  const [headers, setHeaders] = useDraft(keys.headers, EMPTY.headers);
  const [aside, setAside] = useDraft<Aside | null>(keys.aside, null);
  return {
    text,
    headers,
    setText,
    setHeaders,
    place: (next, given) => {
      setAside(asideOf({ text, headers }, aside, next));
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
