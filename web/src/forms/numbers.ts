// Numbers as they are typed. JavaScript keeps about 16 digits; servers may take more.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const STRING = /"(?:[^"\\]|\\.)*"/g;
// No number of a browser needs more characters than this.
const LONGEST = 800;
const LITERAL = /-?\d+(\.\d+)?([eE][+-]?\d+)?/g;

/** Whether a number loses digits when a browser reads it. */
function isLossy(literal: string): boolean {
  if (literal.length > LONGEST) return true;
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  if (/^[+-]?\d+$/.test(literal)) return BigInt(literal) !== BigInt(value);
  const [mantissa = ""] = literal.toLowerCase().split("e");
  // 17 digits tell any two numbers apart; what is beyond them is rounded away.
  return mantissa.replace(/\D/g, "").replace(/^0+|0+$/g, "").length > 17;
}

export type TypedNumber = { value: number } | { problem: string };

export function readNumber(text: string): TypedNumber {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed))
    return { problem: "This is not a number. “Send anyway” sends it as text." };
  if (isLossy(trimmed.replace(/^\+/, "")))
    return { problem: "The form would round this number. “Send anyway” sends all digits." };
  return { value: Number(trimmed) };
}

/** A number in JSON text that a form would round. */
export const lossyNumber = (json: string): string | null =>
  json
    .replace(STRING, '""')
    .match(LITERAL)
    ?.find((literal) => literal.length > 15 && isLossy(literal)) ?? null;
