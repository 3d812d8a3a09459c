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
  pingInterval: number | "";
  maxRetries: number | "";
  meta: string;
  rest: Raw;
}

const KNOWN = [
  "command",
  "args",
  "url",
  "transport",
  "type",
  "env",
  "headers",
  "cwd",
  "protocolVersion",
  "connectionTimeout",
  "requestTimeout",
  "pingInterval",
  "maxRetries",
  "meta",
];
const text = (value: unknown): string =>
  value === undefined || value === null ? "" : String(value);
const pairs = (value: unknown): [string, string][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).map(([name, one]) => [name, text(one)])
    : [];
const number = (value: unknown): number | "" => (typeof value === "number" ? value : "");

export function formOf(name: string, raw: Raw): EntryForm {
  const { args } = raw;
  return {
    name,
    kind: raw.url !== undefined ? "url" : "command",
    command: text(raw.command),
    args: Array.isArray(args) ? args.map(text).join("\n") : "",
    url: text(raw.url),
    transport: text(raw.transport ?? raw.type),
    env: pairs(raw.env),
    headers: pairs(raw.headers),
    cwd: text(raw.cwd),
    protocolVersion: text(raw.protocolVersion),
    connectionTimeout: number(raw.connectionTimeout),
    requestTimeout: number(raw.requestTimeout),
    pingInterval: number(raw.pingInterval),
    maxRetries: number(raw.maxRetries),
    meta: raw.meta === undefined ? "" : JSON.stringify(raw.meta, null, 2),
    rest: Object.fromEntries(Object.entries(raw).filter(([key]) => !KNOWN.includes(key))),
  };
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
  put("connectionTimeout", form.connectionTimeout);
  put("requestTimeout", form.requestTimeout);
  put("pingInterval", form.pingInterval);
  put("maxRetries", form.maxRetries);
  if (form.meta.trim()) put("meta", JSON.parse(form.meta));
  return raw;
}

export function problemOf(form: EntryForm): string | null {
  if (!form.name.trim()) return "Give the server a name.";
  if (form.kind === "command" && !form.command.trim()) return "Say which program to start.";
  if (form.kind === "url" && !/^(https?|wss?):\/\//.test(form.url.trim()))
    return "The URL begins with http://, https://, ws:// or wss://.";
  if (form.meta.trim()) {
    try {
      JSON.parse(form.meta);
    } catch {
      return "_meta is not JSON.";
    }
  }
  return null;
}
