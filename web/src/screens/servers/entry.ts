// A server's entry in the configuration file, as a form sees it. What the form does not know stays.

export type Raw = Record<string, unknown>;

export interface EntryForm {
  name: string;
  kind: "command" | "url";
  command: string;
  args: string;
  url: string;
  transport: string;
  env: [string, string][];
  headers: [string, string][];
  cwd: string;
  protocolVersion: string;
  connectionTimeout: number | "";
  requestTimeout: number | "";
  progressResetsTimeout: "" | "true" | "false";
  maxTotalTimeout: number | "";
  pingInterval: number | "";
  maxRetries: number | "";
  retryBackoff: string;
  meta: string;
  rest: Raw;
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
/** Times and counts; what else stands there, a placeholder perhaps, stays as it is. */
const NUMBERS = [
  "connectionTimeout",
  "requestTimeout",
  "maxTotalTimeout",
  "pingInterval",
  "maxRetries",
] as const;
const text = (value: unknown): string =>
  value === undefined || value === null ? "" : String(value);
const pairs = (value: unknown): [string, string][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).map(([name, one]) => [name, text(one)])
    : [];
const number = (value: unknown): number | "" => (typeof value === "number" ? value : "");
const isDelays = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number");

function isKnown(key: string, value: unknown): boolean {
  if ((NUMBERS as readonly string[]).includes(key)) return typeof value === "number";
  if (key === "progressResetsTimeout") return typeof value === "boolean";
  return key === "retryBackoff" ? isDelays(value) : KNOWN.includes(key);
}

/** Milliseconds, separated by commas or blanks; null if one is none. */
export function delaysOf(text: string): number[] | null {
  const delays = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);
  return delays.every((delay) => delay >= 0 && Number.isFinite(delay)) ? delays : null;
}

export function formOf(name: string, raw: Raw): EntryForm {
  const { args } = raw;
  const url = raw.url ?? raw.serverUrl ?? raw.httpUrl;
  return {
    name,
    kind: url !== undefined ? "url" : "command",
    command: text(raw.command),
    args: Array.isArray(args) ? args.map(text).join("\n") : "",
    url: text(url),
    transport: text(raw.transport ?? raw.type),
    env: pairs(raw.env),
    headers: pairs(raw.headers),
    cwd: text(raw.cwd),
    protocolVersion: text(raw.protocolVersion),
    connectionTimeout: number(raw.connectionTimeout),
    requestTimeout: number(raw.requestTimeout),
    progressResetsTimeout:
      typeof raw.progressResetsTimeout === "boolean" ? `${raw.progressResetsTimeout}` : "",
    maxTotalTimeout: number(raw.maxTotalTimeout),
    pingInterval: number(raw.pingInterval),
    maxRetries: number(raw.maxRetries),
    retryBackoff: isDelays(raw.retryBackoff) ? raw.retryBackoff.join(", ") : "",
    meta: raw.meta === undefined ? "" : JSON.stringify(raw.meta, null, 2),
    rest: Object.fromEntries(Object.entries(raw).filter(([key, value]) => !isKnown(key, value))),
  };
}

type Pair = [string, string];

/** What may be kept of a form. Values of variables and headers may be secrets: in place of each is
 * the name that has it in the entry, if one has. */
export function withoutValues(form: EntryForm, entry: EntryForm): EntryForm {
  const named = (pairs: Pair[], from: Pair[]): Pair[] =>
    pairs.map(([name, value]) => [name, from.find((one) => one[1] === value)?.[0] ?? ""]);
  return { ...form, env: named(form.env, entry.env), headers: named(form.headers, entry.headers) };
}

/** What was kept of a form, with the values that its entry has now. */
export function broughtBack(kept: EntryForm, entry: EntryForm): EntryForm {
  const filled = (pairs: Pair[], from: Pair[]): Pair[] =>
    pairs.map(([name, whose]) => [name, from.find((one) => one[0] === whose)?.[1] ?? ""]);
  const env = filled(kept.env, entry.env);
  return { ...kept, env, headers: filled(kept.headers, entry.headers), rest: entry.rest };
}

/** The entry to write; one argument per line, so that blanks need no quotes. */
export function rawOf(form: EntryForm): Raw {
  const raw: Raw = { ...form.rest };
  const put = (key: string, value: unknown): void => {
    if (value !== "" && value !== undefined) raw[key] = value;
  };
  const filled = (list: [string, string][]): Raw | undefined => {
    const named = list.filter(([name]) => name.trim());
    return named.length ? Object.fromEntries(named) : undefined;
  };
  if (form.kind === "command") {
    put("command", form.command.trim());
    const args = form.args === "" ? [] : form.args.split("\n");
    if (args.length) raw.args = args;
    put("env", filled(form.env));
    put("cwd", form.cwd.trim());
  } else {
    put("url", form.url.trim());
    put("transport", form.transport);
    put("headers", filled(form.headers));
  }
  put("protocolVersion", form.protocolVersion);
  for (const key of NUMBERS) put(key, form[key]);
  if (form.progressResetsTimeout) raw.progressResetsTimeout = form.progressResetsTimeout === "true";
  if (form.retryBackoff.trim()) put("retryBackoff", delaysOf(form.retryBackoff) ?? undefined);
  if (form.meta.trim()) put("meta", JSON.parse(form.meta));
  return raw;
}

export function problemOf(form: EntryForm): string | null {
  if (!form.name.trim()) return "Give the server a name.";
  if (form.kind === "command" && !form.command.trim()) return "Say which program to start.";
  if (form.kind === "url" && !/^(https?|wss?):\/\//.test(form.url.trim()))
    return "The URL begins with http://, https://, ws:// or wss://.";
  if (delaysOf(form.retryBackoff) === null) return "The waits are numbers of milliseconds.";
  if (form.meta.trim()) {
    try {
      JSON.parse(form.meta);
    } catch {
      return "_meta is not JSON.";
    }
  }
  return null;
}
