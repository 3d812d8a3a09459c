import { expect, it } from "vitest";
import { codeMeaning } from "./rpcErrors";

it("names a code that is defined, unless the message does so itself", () => {
  expect(codeMeaning(-32601, "x is not offered")).toBe("-32601 means: method not found");
  expect(codeMeaning(-32601, "Method not found: x")).toBeNull();
  expect(codeMeaning(-32000, "it cannot be done")).toBeNull();
  expect(codeMeaning("-32601", "")).toBeNull();
});
