import { describe, expect, it } from "vitest";
import { bytesAsText } from "./bytesText";
import { maskedSpans } from "./maskedSpans";

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("bytes as text", () => {
  it.each(["", "plain", "é ü € 𝄞", "\uFEFFwith a mark", "a\r\n\tb"])("keep %j", (text) => {
    expect(bytesAsText(encode(text))).toEqual({ text, tokens: [] });
  });
  it("show what is not text as its value, marked", () => {
    const { text, tokens } = bytesAsText(bytes(0x63, 0xe9, 0x21, 0xc3, 0xa9, 0xff, 0xf0, 0x9d));
    expect(text).toBe("c\\xE9!é\\xFF\\xF0\\x9D");
    expect(tokens.map(({ start, end }) => text.slice(start, end))).toEqual(
      ["E9", "FF", "F0", "9D"].map((one) => `\\x${one}`),
    );
  });
});

describe("masked spans", () => {
  it("are found behind characters of several bytes", () => {
    const text = '{"é":"𝄞","token":"********"}';
    const start = encode(text.slice(0, text.indexOf("*"))).length;
    const masked = [{ field: "message", start, end: start + 8, key: "token" }, { field: "url" }];
    const [span, ...more] = maskedSpans(text, masked);
    expect(text.slice(span?.start, span?.end)).toBe("********");
    expect(more).toEqual([]);
  });
});
