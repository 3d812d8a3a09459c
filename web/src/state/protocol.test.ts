import { expect, it } from "vitest";
import { aServer } from "../testing/views";
import { repeatsInHeaders, takesHeaders } from "./protocol";

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
