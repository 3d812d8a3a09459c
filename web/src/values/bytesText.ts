// Bytes as text in which no byte is lost: those that are not UTF-8 are written as \\xE9 and marked.
import type { Token } from "./highlight";

/** How many bytes a character has that begins with this one; 0 if none does. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/** Where the first byte is that is not UTF-8; the length if all are. */
function validUntil(data: Uint8Array, from: number, decoder: TextDecoder): number {
  let at = from;
  while (at < data.length) {
    const length = lengthOf(data[at] ?? 0);
    if (length === 0 || at + length > data.length) return at;
    if (length > 1) {
      try {
        decoder.decode(data.subarray(at, at + length));
      } catch {
        return at;
      }
    }
    at += length;
  }
  return at;
}

export function bytesAsText(data: Uint8Array): { text: string; tokens: Token[] } {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parts: string[] = [];
  const tokens: Token[] = [];
  let length = 0;
  const put = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  for (let at = 0; at < data.length; ) {
    const end = validUntil(data, at, strict);
    put(strict.decode(data.subarray(at, end)));
    const first = data[end];
    if (first !== undefined) {
      const start = length;
      put(`\\x${first.toString(16).toUpperCase().padStart(2, "0")}`);
      tokens.push({ start, end: length, kind: "byte" });
    }
    at = end + 1;
  }
  return { text: parts.join(""), tokens };
}
