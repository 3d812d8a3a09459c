// Where a recording masked secrets in a text.
import type { Token } from "./highlight";
import { fieldsOf } from "./jsonObject";

/** How many bytes of UTF-8 the character at this place has, and how long it is in the string. */
function measure(code: number): [bytes: number, length: number] {
  if (code < 0x80) return [1, 1];
  if (code < 0x800) return [2, 1];
  return code < 0x10000 ? [3, 1] : [4, 2];
}

/** Whether bytes of the message itself were masked, not only a header or another field. */
export const hasMaskedBytes = (masked: readonly unknown[]): boolean =>
  masked.some((mask) => typeof fieldsOf(mask).start === "number");

/** The marks of masked bytes of a message, as places in its text. */
export function maskedSpans(text: string, masked: readonly unknown[]): Token[] {
  const spans = masked
    .map(fieldsOf)
    .flatMap(({ start, end }) =>
      typeof start === "number" && typeof end === "number" && end > start ? [[start, end]] : [],
    ) as [number, number][];
  spans.sort(([one], [other]) => one - other);
  const tokens: Token[] = [];
  let at = 0;
  let bytes = 0;
  const placeOf = (offset: number): number => {
    while (bytes < offset && at < text.length) {
      const [size, length] = measure(text.codePointAt(at) ?? 0);
      bytes += size;
      at += length;
    }
    return at;
  };
  for (const [from, to] of spans) {
    const start = placeOf(from);
    const end = placeOf(to);
    if (end > start) tokens.push({ start, end, kind: "masked" });
  }
  return tokens;
}
