import { describe, expect, it } from "vitest";
import type { Schema } from "./schema";
import { summarizeSchema } from "./schemaSummary";

const REGION = { type: "string", "x-mcp-header": "Region" };

describe("what a schema says of a value", () => {
  it.each<[Schema, string]>([
    [{}, ""],
    [{ type: "string" }, ""],
    [{ type: "string", minLength: 0 }, ""],
    [{ type: "boolean" }, ""],
    [{ type: "object", properties: {} }, ""],
    [{ type: "string", maxLength: 80, pattern: "^a" }, "text, up to 80 characters, pattern ^a"],
    [{ type: "string", minLength: 1 }, "text, at least 1 character"],
    [{ type: "string", minLength: 2, maxLength: 8 }, "text, 2–8 characters"],
    [{ type: "string", minLength: 3, maxLength: 3 }, "text, exactly 3 characters"],
    [{ type: "string", format: "date-time" }, "date-time"],
    [{ type: "string", format: "email", maxLength: 80 }, "email, up to 80 characters"],
    [{ type: "string", contentEncoding: "base64" }, "base64"],
    [{ type: "string", format: "byte", contentMediaType: "image/png" }, "base64, image/png"],
    [{ type: "array", items: { type: "string" } }, ""],
    [{ type: "string", default: "a" }, 'default "a"'],
    [{ type: "string", default: "" }, 'default ""'],
    [{ type: "string", deprecated: true, readOnly: true }, "deprecated, read-only"],
    [{ type: "integer" }, "integer"],
    [{ type: "integer", minimum: 1, maximum: 10, default: 5 }, "integer, 1–10, default 5"],
    [{ type: "number", minimum: -90, maximum: 90 }, "number, -90 to 90"],
    [{ type: "number", minimum: 0.5 }, "number, at least 0.5"],
    [{ type: "number", maximum: 0 }, "number, up to 0"],
    [
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      "number, more than 0, less than 1",
    ],
    [{ type: "number", minimum: 0, exclusiveMaximum: 1 }, "number, at least 0, less than 1"],
    [{ type: "number", minimum: 0, exclusiveMinimum: true }, "number, more than 0"],
    [{ type: "integer", multipleOf: 2 }, "integer, multiple of 2"],
    [{ type: "integer", minimum: "1" }, "integer"],
    [{ type: "string", enum: ["a", "b", "c"] }, "one of 3"],
    [{ type: "string", oneOf: [{ const: "a" }, { const: "b" }] }, "one of 2"],
    [{ enum: ["a", null], default: null }, "one of 2, default null"],
    [{ const: "demo" }, "constant"],
    [{ type: ["string", "null"] }, "text or null"],
    [{ type: ["boolean", "null"] }, "one of 3"],
    [{ type: ["string", "integer"] }, "text or integer"],
    [
      { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null },
      "integer or null, at least 1, default null",
    ],
    [{ anyOf: [{ type: "string" }, { type: "integer" }] }, ""],
    [
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 5, uniqueItems: true },
      "array, 1–5 items, unique",
    ],
    [{ type: "array", items: { type: "integer", minimum: 1 } }, "array, each integer, at least 1"],
    [{ type: "array", items: { enum: ["a", "b"] }, maxItems: 1 }, "any of 2, up to 1 item"],
    [{ type: "object", minProperties: 1 }, "object, at least 1 key"],
    [{ type: "string", pattern: "a".repeat(90) }, `text, pattern ${"a".repeat(59)}…`],
    [REGION, ""],
  ])("%j: %s", (schema, words) => {
    expect(summarizeSchema(schema)).toBe(words);
  });
  it("names the header that repeats it, where headers are sent", () => {
    expect(summarizeSchema(REGION, true)).toBe("also sent as header Mcp-Param-Region");
  });
});
