// A call in other words: for a terminal, for Python, for curl, as JSON-RPC.
import type { CallView, ServerView } from "../api/types";
import { pretty } from "../parts/text";

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** JSON as a Python literal: only the three words differ. */
export function python(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map((one) => python(one, indent)).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const lines = Object.entries(value).map(
    ([key, one]) => `${inner}${JSON.stringify(key)}: ${python(one, inner)},`,
  );
  return lines.length ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
}

interface Params {
  name?: unknown;
  arguments?: unknown;
}

const paramsOf = (call: CallView): Params => {
  const request = (call.request ?? {}) as { params?: Params };
  return request.params ?? (request as Params);
};

export function asCommand(call: CallView): string {
  const params = paramsOf(call);
  if (call.kind === "tool") {
    return `mcplens call ${quoted(call.server_id)} ${quoted(call.name)} --args ${quoted(JSON.stringify(params.arguments ?? {}))}`;
  }
  if (call.kind === "resource")
    return `mcplens read ${quoted(call.server_id)} ${quoted(call.name)}`;
  return `mcplens request ${quoted(call.server_id)} ${quoted(call.method)} ${quoted(JSON.stringify(params))}`;
}

export function asPython(call: CallView, server: ServerView | undefined): string {
  const target = server?.url
    ? JSON.stringify(server.url)
    : python(server?.command ?? call.server_id);
  const { arguments: given } = paramsOf(call);
  const line =
    call.kind === "tool"
      ? `await client.call_tool(${JSON.stringify(call.name)}, ${python(given ?? {}, "        ")})`
      : `await client.request(${JSON.stringify(call.method)}, ${python(paramsOf(call), "        ")})`;
  return `import asyncio\n\nimport mcplens\n\n\nasync def main() -> None:\n    async with mcplens.connect(${target}) as client:\n        result = ${line}\n        print(result)\n\n\nasyncio.run(main())\n`;
}

export function asJsonRpc(call: CallView): string {
  const request = (call.request ?? {}) as Record<string, unknown>;
  if ("jsonrpc" in request) return pretty(request);
  return pretty({
    jsonrpc: "2.0",
    id: call.request_id ?? 1,
    method: call.method,
    params: paramsOf(call),
  });
}

export function asCurl(call: CallView, server: ServerView | undefined): string {
  const body = JSON.stringify(JSON.parse(asJsonRpc(call)));
  return `curl -sS ${quoted(server?.url ?? "")} \\\n  -H 'Content-Type: application/json' \\\n  -H 'Accept: application/json, text/event-stream' \\\n  -d ${quoted(body)}`;
}
