// A call as a shell command, Python, curl or JSON-RPC. Secrets are replaced by environment
// variables.
import type { CallView, ServerView } from "../api/types";
import { isStateless, withEnvelope } from "../state/protocol";
import { pretty } from "../values/json";
import { isObject, type JsonObject } from "../values/jsonObject";

type Known = ServerView | undefined;

// Characters that a terminal or reader would misinterpret: ESC, line breaks, direction changes.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** The bytes of a character for `$'…'`. */
const escaped = (character: string): string =>
  Array.from(
    new TextEncoder().encode(character),
    (byte) => `\\x${byte.toString(16).padStart(2, "0")}`,
  ).join("");

/** Quotes a shell word. Names come from servers, and nothing in them may execute when pasted. */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  // Quotes and ! as bytes too: an interactive shell looks for them before it knows of `$'…'`.
  return `$'${text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}'!\\]/gu, escaped)}'`;
}
const json = (value: unknown): string => shellQuote(JSON.stringify(value));

/** JSON as a Python literal: only the three words differ. */
export function pythonLiteral(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map((one) => pythonLiteral(one, indent)).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const inner = `${indent}    `;
  const lines = Object.entries(value).map(
    ([key, one]) => `${inner}${JSON.stringify(key)}: ${pythonLiteral(one, inner)},`,
  );
  return lines.length ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
}

/** The environment variable that holds the value of a header: X-Api-Key is in X_API_KEY. */
const variable = (header: string): string => header.toUpperCase().replace(/[^A-Z0-9]+/g, "_");

/** Whether a header's name is safe in a command and gives a variable name. */
const isPlain = (header: string): boolean => /^[\w.-]+$/.test(header);

/** The headers that every request to a server has, and those of this call alone. */
const headerNames = (call: CallView, server: Known): string[] =>
  server?.url ? [...new Set([...server.header_names, ...Object.keys(call.headers)])] : [];

/** Whether a call can be written as a command: not if a header's name is unsafe. */
export const isSafeCommand = (call: CallView, server: Known): boolean =>
  headerNames(call, server).every(isPlain);

/** Headers as shell words, with values from variables. */
const headerWords = (names: string[]): string[] =>
  names.filter(isPlain).map((name) => `"${name}: $${variable(name)}"`);

// -- a terminal ----------------------------------------------------------------------------------

const headerOptions = (names: string[]): string =>
  headerWords(names)
    .map((word) => ` -H ${word}`)
    .join("");

/** How the command line names a server: words before and after the others. */
function target(call: CallView, server: Known): { before: string; after: string } {
  const { kind, scope, path } = server?.source ?? { kind: "", scope: "user", path: "" };
  if (!server || path || kind === "built-in") {
    const headers = server?.url ? headerOptions(Object.keys(call.headers)) : "";
    const config = scope === "given" && path ? ` --config ${shellQuote(path)}` : "";
    return { before: ` ${shellQuote(call.server_id)}`, after: headers + config };
  }
  // It is not in a file, so its name means nothing to another process.
  const cwd = server.cwd ? ` --cwd ${shellQuote(server.cwd)}` : "";
  if (!server.url)
    return { before: "", after: `${cwd} -- ${(server.command ?? []).map(shellQuote).join(" ")}` };
  const headers = headerOptions(headerNames(call, server));
  return { before: ` ${shellQuote(server.url)}`, after: headers };
}

/** The words of the command without the server: its name, and what follows. */
function wordsOf(call: CallView, request: unknown): [string, string] {
  if (call.kind === "raw") return ["raw", shellQuote(String(request))];
  const params = isObject(request) ? request : {};
  const meta = params._meta === undefined ? "" : ` --meta ${json(params._meta)}`;
  const given = params.arguments ?? {};
  // A name that looks like an option is passed within JSON.
  if (call.name.startsWith("-")) return ["request", `${shellQuote(call.method)} ${json(params)}`];
  if (call.kind === "tool" && isObject(given)) {
    const ttl = isObject(params.task) ? Number(params.task.ttl) / 1000 : null;
    const task = ttl === null ? "" : ` --task --ttl ${ttl}`;
    return ["call", `${shellQuote(call.name)} --args ${json(given)}${meta}${task}`];
  }
  if (call.kind === "resource" && !meta) return ["read", shellQuote(call.name)];
  if (call.kind === "prompt" && !meta)
    return ["prompt", `${shellQuote(call.name)} --args ${json(given)}`];
  return ["request", `${shellQuote(call.method)} ${json(params)}`];
}

export function asCommand(call: CallView, request: unknown, server: Known): string {
  const [name, words] = wordsOf(call, request);
  const { before, after } = target(call, server);
  const timeout = call.timeout_s === null ? "" : ` --timeout ${call.timeout_s}`;
  const force = call.is_forced ? " --force" : "";
  return `mcplens ${name}${before} ${words}${timeout}${force}${after}`;
}

// -- Python --------------------------------------------------------------------------------------

/** A dict of what is in environment variables. */
const environDict = (names: string[], nameOf: (name: string) => string): string =>
  `{${names.map((name) => `${JSON.stringify(name)}: os.environ[${JSON.stringify(nameOf(name))}]`).join(", ")}}`;

/** The arguments of `mcplens.connect()`. */
function connectArguments(server: Known, serverId: string): string {
  const words = [
    server?.url ? JSON.stringify(server.url) : pythonLiteral(server?.command ?? serverId),
  ];
  const headers = (server?.url && server.header_names) || [];
  const env = (!server?.url && server?.env_names) || [];
  if (headers.length) words.push(`headers=${environDict(headers, variable)}`);
  if (env.length) words.push(`env=${environDict(env, (name) => name)}`);
  if (!server?.url && server?.cwd) words.push(`cwd=${JSON.stringify(server.cwd)}`);
  return words.join(", ");
}

/** Options of this call alone. */
function optionsOf(call: CallView, server: Known): string[] {
  const words: string[] = [];
  if (server?.url && Object.keys(call.headers).length)
    words.push(`headers=${environDict(Object.keys(call.headers), variable)}`);
  if (call.timeout_s !== null)
    words.push(`timeout_s=${call.timeout_s === 0 ? 'float("inf")' : call.timeout_s}`);
  return words;
}

function pythonCall(call: CallView, request: unknown, server: Known): string {
  const indent = "        ";
  const options = optionsOf(call, server);
  if (call.kind === "raw") {
    const text = `${JSON.stringify(String(request))}.encode()`;
    return `client.send_raw(${[text, ...options].join(", ")})`;
  }
  const params = isObject(request) ? request : {};
  const { arguments: given, _meta: meta, task } = params;
  if (call.kind === "tool" && isObject(given)) {
    const words = [JSON.stringify(call.name), pythonLiteral(given, indent)];
    if (meta !== undefined) words.push(`meta=${pythonLiteral(meta, indent)}`);
    if (isObject(task)) words.push(`task=${Number(task.ttl) / 1000}`);
    return `client.call_tool(${[...words, ...options].join(", ")})`;
  }
  const words = [JSON.stringify(call.method), pythonLiteral(params, indent), ...options];
  return `client.request(${words.join(", ")})`;
}

export function asPython(call: CallView, request: unknown, server: Known): string {
  const made = connectArguments(server, call.server_id);
  const asked = pythonCall(call, request, server);
  const variables = server?.url ? headerNames(call, server) : (server?.env_names ?? []);
  const shown =
    call.kind === "raw" ? 'result.raw.decode() if result else "no answer"' : "result.raw.decode()";
  return `import asyncio
${variables.length ? "import os\n" : ""}
import mcplens


async def main() -> None:
    async with mcplens.connect(${made}) as client:
        result = await ${asked}
        print(${shown})


asyncio.run(main())
`;
}

// -- JSON-RPC and curl ---------------------------------------------------------------------------

function message(call: CallView, params: unknown): JsonObject {
  return { jsonrpc: "2.0", id: call.request_id ?? 1, method: call.method, params };
}

/** The message of a call; a raw one exactly as it was typed. */
export function asJsonRpc(call: CallView, request: unknown, server: Known): string {
  if (typeof request === "string") return request;
  return pretty(message(call, withEnvelope(request ?? {}, server, "mcplens")));
}

function headersOf(call: CallView, server: ServerView): string[] {
  const { protocol_version: version, channel } = server;
  const lines = [
    "'Content-Type: application/json'",
    "'Accept: application/json, text/event-stream'",
  ];
  if (version) lines.push(shellQuote(`MCP-Protocol-Version: ${version}`));
  if (isStateless(server)) {
    lines.push(shellQuote(`Mcp-Method: ${call.method}`));
    if (["tool", "prompt", "resource"].includes(call.kind))
      lines.push(shellQuote(`Mcp-Name: ${call.name}`));
  }
  if (channel.session_id) lines.push('"Mcp-Session-Id: $MCP_SESSION_ID"');
  return [...lines, ...headerWords(headerNames(call, server))];
}

/** Whether a message can be sent by one HTTP request. */
export const canCurl = (server: Known): boolean =>
  /^https?:/.test(server?.url ?? "") && server?.transport !== "sse";

export function asCurl(call: CallView, request: unknown, server: Known): string {
  if (!server?.url) return "";
  const params = withEnvelope(request ?? {}, server, "curl");
  const body = typeof request === "string" ? request : JSON.stringify(message(call, params));
  const headers = headersOf(call, server).map((line) => `  -H ${line} \\\n`);
  const limit = call.timeout_s ? ` --max-time ${call.timeout_s}` : "";
  return `curl -sS${limit} ${shellQuote(server.url)} \\\n${headers.join("")}  --data-raw ${shellQuote(body)}`;
}
