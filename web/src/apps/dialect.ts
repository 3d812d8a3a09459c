// Messages between an MCP App and its host: JSON-RPC 2.0 by postMessage (SEP-1865).
import { isObject, type JsonObject } from "../values/jsonObject";

export type MessageId = string | number;

export interface AppMessage {
  jsonrpc: "2.0";
  id?: MessageId;
  method?: string;
  params?: JsonObject;
  result?: unknown;
  error?: { code: number; message: string };
}

export const PROTOCOL_VERSION = "2026-01-26";
export const PROXY_READY = "ui/notifications/sandbox-proxy-ready";
export const RESOURCE_READY = "ui/notifications/sandbox-resource-ready";

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const REFUSED = -32000;

// More than any real message; the backend takes no more either.
const MOST_CHARACTERS = 10_000_000;

/**
 * Requests of an app that are passed on, and the capability that each needs: to its server, or for
 * a completion to the person or the profile that answers the server.
 */
export const PASSED_ON = new Map([
  ["tools/call", "serverTools"],
  ["resources/read", "serverResources"],
  ["resources/list", "serverResources"],
  ["resources/templates/list", "serverResources"],
  ["prompts/list", "serverResources"],
  ["sampling/createMessage", "sampling"],
]);

/** Requests of an app that the host answers, and the capability that each needs. */
export const FOR_HOST = new Map<string, string | null>([
  ["ui/open-link", "openLinks"],
  ["ui/download-file", "downloadFile"],
  ["ui/message", "message"],
  ["ui/update-model-context", "updateModelContext"],
  ["ui/request-display-mode", null],
  ["ping", null],
]);

const isId = (id: unknown): id is MessageId => typeof id === "string" || typeof id === "number";

interface Parsed {
  /** The message as JSON, for Traffic. */
  text: string;
  message: AppMessage | null;
  /** Why it is not a message. */
  problem: string | null;
}

const broken = (text: string, problem: string): Parsed => ({ text, message: null, problem });

/** What an app posted, as a message. Anything can be posted, also what JSON cannot hold. */
export function parseMessage(data: unknown): Parsed {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch {
    return broken('"?"', "It cannot be written as JSON.");
  }
  if (text === undefined) return broken('"?"', "It cannot be written as JSON.");
  if (text.length > MOST_CHARACTERS) return broken('"?"', "It is larger than 10 MB.");
  // As a server would read it: without what only a structured clone can hold.
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || value.jsonrpc !== "2.0")
    return broken(text, "It is not a JSON-RPC 2.0 message.");
  const { id, method, params } = value;
  if (id !== undefined && !isId(id)) return broken(text, "Its id is not a text or a number.");
  if (method !== undefined && typeof method !== "string")
    return broken(text, "Its method is not a text.");
  if (params !== undefined && params !== null && !isObject(params))
    return broken(text, "Its params are not an object.");
  if (method === undefined && id === undefined)
    return broken(text, "It is neither a request nor an answer.");
  return { text, message: value as unknown as AppMessage, problem: null };
}

/** Why a link is not opened; null if it may be, after a click. */
export function linkProblem(url: unknown): string | null {
  if (typeof url !== "string") return "url must be a text";
  if (!URL.canParse(url)) return `${url} is not a URL`;
  const { protocol } = new URL(url);
  return /^https?:$/.test(protocol)
    ? null
    : `${protocol} links are not opened, only http and https`;
}

export interface AppFile {
  name: string;
  mimeType: string;
  text?: string;
  blob?: string;
}

/** The files that an app wants to save, or why they are not saved. */
export function filesIn(contents: unknown): AppFile[] | string {
  if (!Array.isArray(contents) || contents.length === 0) return "contents must be a list";
  const files: AppFile[] = [];
  for (const item of contents) {
    const resource = isObject(item) ? item.resource : undefined;
    if (!isObject(item) || item.type !== "resource" || !isObject(resource))
      return "only embedded resources can be saved";
    const { uri, mimeType, text, blob } = resource;
    let name: string;
    try {
      name = decodeURIComponent(String(uri).split(/[?#]/)[0]?.split("/").pop() ?? "");
    } catch {
      return `${uri} has no readable file name`;
    }
    if (!name || /[/\\:]|^\.+$/.test(name)) return `${name || uri} is not a plain file name`;
    if (typeof text !== "string" && typeof blob !== "string") return `${name} has no content`;
    files.push({
      name,
      mimeType: typeof mimeType === "string" ? mimeType : "application/octet-stream",
      ...(typeof text === "string" ? { text } : { blob: String(blob) }),
    });
  }
  return files;
}
