// Converts a server's entry in the configuration file to form values and back. Unknown keys are
// kept.
import type { SecretPlace } from "../../api/types";
import type { KeyValue } from "../../components/KeyValueFields";

export type RawEntry = Record<string, unknown>;

/** Numeric keys; other values, such as placeholders, are kept as they are. */
const NUMBERS = [
  "connectionTimeout",
  "requestTimeout",
  "maxTotalTimeout",
  "pingInterval",
  "maxRetries",
  "maxConcurrency",
  "maxMessageBytes",
] as const;
export type NumberKey = (typeof NUMBERS)[number];

/** Flags with their defaults. */
const FLAGS = { enabled: true, inheritEnv: false, insecure: false };
export type FlagKey = keyof typeof FLAGS;

/** Texts, by their keys in the file. */
export const TEXTS = { title: "name", envFile: "envFile", caFile: "caFile" };
export type TextKey = keyof typeof TEXTS;

type Fields = Record<NumberKey, number | ""> & Record<FlagKey, boolean> & Record<TextKey, string>;

export interface EntryForm extends Fields {
  name: string;
  kind: "command" | "url";
  command: string;
  args: string;
  url: string;
  transport: string;
  env: KeyValue[];
  headers: KeyValue[];
  cwd: string;
  protocolVersion: string;
  progressResetsTimeout: "" | "true" | "false";
  retryBackoff: string;
  meta: string;
  secretKeys: KeyValue[];
  /** Keys without a field in the form. */
  rest: RawEntry;
}

const KNOWN = [
  "command",
  "args",
  "url",
  "serverUrl",
  "httpUrl",
  "transport",
  "type",
  "env",
  "headers",
  "cwd",
  "protocolVersion",
  "meta",
];
const text = (value: unknown): string =>
  value === undefined || value === null ? "" : String(value);
const pairs = (value: unknown): KeyValue[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).map(([name, one]) => [name, text(one)])
    : [];
const string = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | "" => (typeof value === "number" ? value : "");
const isDelays = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number");

/** Names, or names with texts. */
const isSecrets = (value: unknown): value is string[] | Record<string, string | null> =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every(
    (one) => typeof one === "string" || (one === null && !Array.isArray(value)),
  );
const secrets = (value: unknown): KeyValue[] => {
  if (!isSecrets(value)) return [];
  return Array.isArray(value) ? value.map((name) => [name, ""]) : pairs(value);
};

function isKnown(key: string, value: unknown): boolean {
  if (Object.values(TEXTS).includes(key)) return typeof value === "string";
  if (key in FLAGS) return typeof value === "boolean" && value !== FLAGS[key as FlagKey];
  if (key === "secretKeys") return isSecrets(value);
  if ((NUMBERS as readonly string[]).includes(key)) return typeof value === "number";
  if (key === "progressResetsTimeout") return typeof value === "boolean";
  return key === "retryBackoff" ? isDelays(value) : KNOWN.includes(key);
}

/** Milliseconds, separated by commas or spaces; null if one is invalid. */
export function parseDelays(text: string): number[] | null {
  const delays = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);
  return delays.every((delay) => delay >= 0 && Number.isFinite(delay)) ? delays : null;
}

/** The form of an entry; `masked` says which of its values are masks of saved secrets. */
export function formOf(name: string, raw: RawEntry, masked: SecretPlace[] = []): EntryForm {
  const { args } = raw;
  const marked = (key: string, list: KeyValue[]): KeyValue[] =>
    list.map(([name, value]) =>
      masked.some((one) => one.key === key && one.name === name)
        ? [name, value, { name, mask: value }]
        : [name, value],
    );
  const url = raw.url ?? raw.serverUrl ?? raw.httpUrl;
  return {
    name,
    kind: url !== undefined ? "url" : "command",
    command: text(raw.command),
    args: Array.isArray(args) ? args.map(text).join("\n") : "",
    url: text(url),
    transport: text(raw.transport ?? raw.type),
    env: marked("env", pairs(raw.env)),
    headers: marked("headers", pairs(raw.headers)),
    cwd: text(raw.cwd),
    protocolVersion: text(raw.protocolVersion),
    connectionTimeout: number(raw.connectionTimeout),
    requestTimeout: number(raw.requestTimeout),
    progressResetsTimeout:
      typeof raw.progressResetsTimeout === "boolean" ? `${raw.progressResetsTimeout}` : "",
    maxTotalTimeout: number(raw.maxTotalTimeout),
    pingInterval: number(raw.pingInterval),
    maxRetries: number(raw.maxRetries),
    maxConcurrency: number(raw.maxConcurrency),
    maxMessageBytes: number(raw.maxMessageBytes),
    enabled: raw.enabled !== false,
    inheritEnv: raw.inheritEnv === true,
    insecure: raw.insecure === true,
    title: string(raw.name),
    envFile: string(raw.envFile),
    caFile: string(raw.caFile),
    secretKeys: marked("secretKeys", secrets(raw.secretKeys)),
    retryBackoff: isDelays(raw.retryBackoff) ? raw.retryBackoff.join(", ") : "",
    meta: raw.meta === undefined ? "" : JSON.stringify(raw.meta, null, 2),
    rest: Object.fromEntries(Object.entries(raw).filter(([key, value]) => !isKnown(key, value))),
  };
}

const LISTS = ["env", "headers", "secretKeys"] as const;

/** The name that has this value in the entry, if any. */
function whoseValue([name, value, saved]: KeyValue, from: KeyValue[]): string {
  if (saved) return value === saved.mask ? saved.name : "";
  const same = from.filter((one) => one[1] === value);
  return (same.find((one) => one[0] === name) ?? same[0])?.[0] ?? "";
}

/**
 * The form without values of variables and headers, which may be secrets: each is replaced by the
 * name that has it in the entry, if any.
 */
export function withoutSecrets(form: EntryForm, entry: EntryForm): EntryForm {
  const kept = { ...form };
  for (const key of LISTS)
    kept[key] = form[key].map((pair) => [pair[0], whoseValue(pair, entry[key])]);
  return kept;
}

/** Restores a saved form, with the current values of its entry. */
export function restoreForm(kept: EntryForm, entry: EntryForm): EntryForm {
  const filled = (list: KeyValue[], from: KeyValue[]): KeyValue[] =>
    list.map(([name, whose]) => {
      const [, value = "", ...saved] = from.find((one) => one[0] === whose) ?? [];
      return [name, value, ...saved];
    });
  // Saved by an older page, it may lack a field.
  const form = { ...entry, ...kept, rest: entry.rest };
  for (const key of LISTS) if (kept[key]) form[key] = filled(kept[key], entry[key]);
  return form;
}

function namesOrValues(pairs: KeyValue[]): string[] | Record<string, string | null> | undefined {
  const named = pairs.filter(([name]) => name.trim());
  if (!named.length) return undefined;
  if (named.every(([, value]) => value === "")) return named.map(([name]) => name);
  return Object.fromEntries(named.map(([name, value]) => [name, value || null]));
}

/** The entry to write; one argument per line, so that spaces need no quotes. */
export function rawOf(form: EntryForm): RawEntry {
  const raw: RawEntry = { ...form.rest };
  const put = (key: string, value: unknown): void => {
    if (value !== "" && value !== undefined) raw[key] = value;
  };
  const putFlag = (key: FlagKey): void => put(key, form[key] === FLAGS[key] ? "" : form[key]);
  const filled = (list: KeyValue[]): RawEntry | undefined => {
    const named = list.filter(([name]) => name.trim());
    return named.length ? Object.fromEntries(named) : undefined;
  };
  if (form.kind === "command") {
    put("command", form.command.trim());
    const args = form.args === "" ? [] : form.args.split("\n");
    if (args.length) raw.args = args;
    put("env", filled(form.env));
    put("cwd", form.cwd.trim());
    put("envFile", form.envFile.trim());
    putFlag("inheritEnv");
  } else {
    put("url", form.url.trim());
    put("transport", form.transport);
    put("headers", filled(form.headers));
    put("caFile", form.caFile.trim());
    putFlag("insecure");
  }
  put("name", form.title.trim());
  putFlag("enabled");
  put("secretKeys", namesOrValues(form.secretKeys));
  put("protocolVersion", form.protocolVersion);
  for (const key of NUMBERS) put(key, form[key]);
  if (form.progressResetsTimeout) raw.progressResetsTimeout = form.progressResetsTimeout === "true";
  if (form.retryBackoff.trim()) put("retryBackoff", parseDelays(form.retryBackoff) ?? undefined);
  if (form.meta.trim()) put("meta", JSON.parse(form.meta));
  return raw;
}

/** Under which names the masked values of the form are saved: by key of the entry, by name. */
export function savedNames(form: EntryForm): Record<string, Record<string, string>> {
  const named = (list: KeyValue[]): [string, string][] =>
    list.flatMap(([name, value, saved]) =>
      saved && value === saved.mask ? [[name, saved.name]] : [],
    );
  return Object.fromEntries(LISTS.map((key) => [key, Object.fromEntries(named(form[key]))]));
}

export function problemOf(form: EntryForm): string | null {
  if (!form.name.trim()) return "Give the server a name.";
  if (form.kind === "command" && !form.command.trim()) return "Enter the program to start.";
  if (form.kind === "url" && !/^(https?|wss?):\/\//.test(form.url.trim()))
    return "The URL must begin with http://, https://, ws:// or wss://.";
  for (const key of LISTS) {
    const names = form[key].map(([name]) => name.trim()).filter(Boolean);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) return `${twice} is there twice; only one of them could be saved.`;
  }
  const emptied = LISTS.flatMap((key) => form[key]).find(([, value, saved]) => saved && !value);
  if (emptied) return `Type the new value of ${emptied[0]}, or keep the saved one.`;
  if (parseDelays(form.retryBackoff) === null) return "The waits must be numbers of milliseconds.";
  if (form.meta.trim()) {
    try {
      JSON.parse(form.meta);
    } catch {
      return "_meta is not JSON.";
    }
  }
  return null;
}
