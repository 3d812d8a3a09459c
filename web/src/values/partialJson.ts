// Reads the members of a JSON object that may be truncated.

/** The source text of a value, and whether it is complete. */
export interface JsonPart {
  text: string;
  isWhole: boolean;
}

/** Where the string that begins at `from` ends; beyond the text if it is cut. */
function afterString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length + 1;
}

/** Where the value that begins at `from` ends; beyond the text if it is cut. */
function afterValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const sign = text[at] as string;
    if (sign === '"') {
      at = afterString(text, at);
      continue;
    }
    if (depth === 0 && (sign === "," || sign === "}" || sign === "]")) return at;
    if (sign === "{" || sign === "[") depth += 1;
    if (sign === "}" || sign === "]") depth -= 1;
    at += 1;
  }
  return text.length + 1;
}

/** The readable members of an object; empty if it is not an object. */
export function readMembers(text: string): Map<string, JsonPart> {
  const found = new Map<string, JsonPart>();
  const key = /[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*/y;
  key.lastIndex = text.search(/\S|$/);
  if (text[key.lastIndex] !== "{") return found;
  for (let named = key.exec(text); named; named = key.exec(text)) {
    const from = key.lastIndex;
    const end = afterValue(text, from);
    const name = readString({ text: named[1] as string, isWhole: true });
    if (name !== null && from < text.length)
      found.set(name, { text: text.slice(from, end).trimEnd(), isWhole: end <= text.length });
    key.lastIndex = Math.min(end, text.length);
  }
  return found;
}

/** The readable items of an array; empty if it is not an array. */
export function readItems(text: string): JsonPart[] {
  const found: JsonPart[] = [];
  let at = text.search(/\S|$/);
  if (text[at] !== "[") return found;
  while (text[at] === "[" || text[at] === ",") {
    const from = at + 1;
    const end = afterValue(text, from);
    const item = text.slice(from, end).trim();
    if (item) found.push({ text: item, isWhole: end <= text.length });
    at = end;
  }
  return found;
}

/** The beginning of a string that may be cut; null if it is not a string. */
export function readText(part: JsonPart | undefined): string | null {
  if (!part?.text.startsWith('"')) return null;
  if (part.isWhole) return readString(part);
  // An escape may be cut in two.
  const kept = part.text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "");
  return readString({ text: `${kept}"`, isWhole: true });
}

/** The value of a part that is a complete string. */
export function readString(part: JsonPart | undefined): string | null {
  if (!part?.isWhole || !part.text.startsWith('"')) return null;
  try {
    return String(JSON.parse(part.text));
  } catch {
    return null;
  }
}
