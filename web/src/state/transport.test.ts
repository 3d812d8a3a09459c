import { expect, it } from "vitest";
import { aServer } from "../testing/views";
import { takesHeaders } from "./transport";

it("offers headers for a request only where each request has its own", () => {
  expect(takesHeaders(aServer())).toBe(false);
  expect(takesHeaders(aServer({ url: "http://x/mcp", transport: "http" }))).toBe(true);
  expect(takesHeaders(aServer({ url: "ws://x/ws", transport: "websocket" }))).toBe(false);
});
