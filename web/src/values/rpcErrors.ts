// What the error codes of JSON-RPC and MCP are called.

const NAMES = new Map([
  [-32700, "parse error"],
  [-32600, "invalid request"],
  [-32601, "method not found"],
  [-32602, "invalid params"],
  [-32603, "internal error"],
  [-32002, "resource not found"],
  [-32042, "a URL has to be visited first"],
]);

/** The meaning of a code in words; null if it has none, or the message says it already. */
export function codeMeaning(code: unknown, message: unknown): string | null {
  const name = typeof code === "number" ? NAMES.get(code) : undefined;
  if (name === undefined || String(message).toLowerCase().includes(name)) return null;
  return `${code} means: ${name}`;
}
