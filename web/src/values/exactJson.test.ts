import { describe, expect, it } from "vitest";
import { ExactNumber, indentJson, parseExactly } from "./exactJson";
import { findIn, rowsOf } from "./jsonRows";

describe("JSON with every digit", () => {
  it("keeps the text of numbers that JavaScript would change", () => {
    for (const text of ["12345678901234567890", "1.0", "1e400", "-0", "0.10", "1E5"]) {
      const { value, isExact } = parseExactly(`{"a":[${text}]}`);
      expect(isExact).toBe(true);
      expect(JSON.stringify(value)).toBe(`{"a":[${text}]}`);
      expect(String((value as { a: unknown[] }).a[0])).toBe(text);
    }
  });

  it("leaves ordinary numbers and texts alone", () => {
    const text = '{"a":1,"b":-2.5,"c":9007199254740991,"d":"1.0 and 1e9"}';
    expect(parseExactly(text).value).toEqual(JSON.parse(text));
    expect(parseExactly("12345678901234567890").value).toBeInstanceOf(ExactNumber);
  });

  it("is shown and found in a tree as it was written", () => {
    const { value } = parseExactly('{"id":12345678901234567890}');
    const row = rowsOf(value, new Set([""]))[1];
    expect(row?.size).toBe(-1);
    expect(String(row?.value)).toBe("12345678901234567890");
    expect(findIn(value, "4567890")).toEqual(["/id"]);
  });

  it("is indented without a change to any token", () => {
    const text = '{"b":1.0,"a":[ ],"a":[1e400,{"x":"\\u00e4 \\"{,}"}],"o":{}}';
    expect(indentJson(text)).toBe(
      '{\n  "b": 1.0,\n  "a": [],\n  "a": [\n    1e400,\n    {\n      "x": "\\u00e4 \\"{,}"\n    }\n  ],\n  "o": {}\n}',
    );
    expect(indentJson('"a\\\\"')).toBe('"a\\\\"');
  });
});
