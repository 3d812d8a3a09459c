import { expect, it } from "vitest";
import { aServer } from "../testing/views";
import { lacksEnvelope, repeatsInHeaders, takesHeaders, withEnvelope } from "./protocol";

it("offers headers for a request only where each request has its own", () => {
  expect(takesHeaders(aServer())).toBe(false);
  expect(takesHeaders(aServer({ url: "http://x/mcp", transport: "http" }))).toBe(true);
  expect(takesHeaders(aServer({ url: "ws://x/ws", transport: "websocket" }))).toBe(false);
});

it("knows from which revision on headers repeat arguments", () => {
  const at = { url: "http://x/mcp", transport: "http" } as const;
  expect(repeatsInHeaders(aServer({ ...at, protocol_version: "2026-07-28" }))).toBe(true);
  expect(repeatsInHeaders(aServer({ ...at, protocol_version: "2025-11-25" }))).toBe(false);
  expect(repeatsInHeaders(aServer({ protocol_version: "2026-07-28" }))).toBe(false);
});

it("knows which requests a server of 2026-07-28 takes for those of an older client", () => {
  const newest = aServer({ protocol_version: "2026-07-28" });
  const request = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  expect(lacksEnvelope(request, newest)).toBe(true);
  expect(lacksEnvelope({ ...request, params: { _meta: { progressToken: 1 } } }, newest)).toBe(true);
  expect(lacksEnvelope({ ...request, params: withEnvelope({}, newest, "x") }, newest)).toBe(false);
  expect(lacksEnvelope(request, aServer({ protocol_version: "2025-11-25" }))).toBe(false);
  expect(lacksEnvelope({ ...request, params: [1] }, newest)).toBe(false);
  for (const other of [[request], "text", { method: "notifications/x" }, { id: 1, result: {} }])
    expect(lacksEnvelope(other, newest)).toBe(false);
  expect(lacksEnvelope({ ...request, method: "initialize" }, newest)).toBe(false);
});
