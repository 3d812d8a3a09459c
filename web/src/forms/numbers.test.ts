import { describe, expect, it } from "vitest";
import { encode } from "../api/socket";
import { lossyNumber, readNumber } from "./numbers";

describe("numbers", () => {
  it.each([
    ["1", 1],
    ["-0.50", -0.5],
    [".5", 0.5],
    ["+3", 3],
    ["1E3", 1000],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["100000000000000000000", 1e20],
  ])("reads %s", (text, value) => expect(readNumber(text)).toEqual({ value }));
  it.each(["-", "1e", "0x10", "1,5", "Infinity", "9007199254740993", "1e999"])(
    "does not take %s for a number that it can keep",
    (text) => expect(readNumber(text)).toHaveProperty("problem"),
  );
  it("finds what a browser would round in JSON, and nothing in texts", () => {
    expect(lossyNumber('{"a": [1, 9007199254740993]}')).toBe("9007199254740993");
    expect(lossyNumber('{"9007199254740993": "9007199254740993 \\"1"}')).toBeNull();
    expect(lossyNumber('{"a": 0.1, "b": 12345.6789, "c": 1e21}')).toBeNull();
  });
  it("takes any number of digits without freezing", () => {
    const long = `1${"0".repeat(200_000)}1`;
    expect(readNumber(`0.${long}`)).toHaveProperty("problem");
    expect(lossyNumber(`[${long}]`)).toBe(long);
  });
  it("travel as they were typed", () => {
    const sent = encode({ type: "CallTool", id: 1 }, { arguments: '{"n": 12345678901234567890}' });
    expect(sent).toBe('{"type":"CallTool","id":1,"arguments":{"n": 12345678901234567890}}');
  });
});
