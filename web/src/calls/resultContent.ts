// What a result is made of: its kinds of content, its only text, the text that repeats its
// structured content.
import { type Form, viewsOf } from "../components/RichText";
import { ExactNumber, tryParseExactly } from "../values/exactJson";
import { fieldsOf, isObject } from "../values/jsonObject";

// Types are a server's own words; this is the key of a preference.
const LONGEST_KIND = 80;
const MEMBERS = ["content", "contents", "messages"];

/** Whether a result has members that are shown as content; any other is a tree of its JSON. */
export const hasContent = (value: unknown): boolean =>
  [...MEMBERS, "structuredContent"].some((name) => fieldsOf(value)[name] !== undefined);

/** What a result is made of: the view that was chosen for one is used for others of its kind. */
export function contentKind(value: unknown): string {
  const result = fieldsOf(value);
  const items = MEMBERS.flatMap((name) => {
    const list = result[name];
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  const kinds = items.map((item) => {
    const { type, content, mimeType, blob } = fieldsOf(item);
    const inner = type ?? fieldsOf(content).type;
    if (typeof inner === "string") return inner;
    if (typeof mimeType === "string") return mimeType.split(";")[0] ?? "";
    return blob === undefined ? "text" : "bytes";
  });
  if (result.structuredContent !== undefined) kinds.push("structured");
  return [...new Set(kinds)].sort().join("+").slice(0, LONGEST_KIND) || "other";
}

const items = (value: unknown, name: string): unknown[] => {
  const list = fieldsOf(value)[name];
  return Array.isArray(list) ? (list as unknown[]) : [];
};

/** The views of the text, if that is all that a result has; else none. */
export function textForms(value: unknown): Form[] {
  const [one, ...more] = MEMBERS.flatMap((name) => items(value, name));
  const { type, text, mimeType, uri } = fieldsOf(one);
  const isText = (type === "text" || type === undefined) && typeof text === "string";
  if (!isText || more.length > 0 || fieldsOf(value).structuredContent !== undefined) return [];
  return viewsOf(text, {
    ...(typeof mimeType === "string" && { mime: mimeType }),
    ...(typeof uri === "string" && { uri }),
  }).forms;
}

// Larger ones take too long to compare while a page is drawn.
const LARGEST = 200_000;

/** Whether two values are the same JSON; the order of keys does not count. */
function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof ExactNumber || other instanceof ExactNumber)
    return String(one) === String(other);
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  if (Array.isArray(one) || Array.isArray(other)) return false;
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => key in other && isSame(one[key], other[key]))
    );
  }
  return one === other;
}

/** The only content of a result, if it is the text of its structured content; else null. */
export function textOfStructured(value: unknown): string | null {
  const { structuredContent } = fieldsOf(value);
  const [one, ...more] = items(value, "content");
  const { type, text, annotations } = fieldsOf(one);
  if (structuredContent === undefined || more.length > 0 || annotations !== undefined) return null;
  if (type !== "text" || typeof text !== "string" || text.length > LARGEST) return null;
  const parsed = tryParseExactly(text);
  return parsed.ok && isSame(parsed.value, structuredContent) ? text : null;
}
