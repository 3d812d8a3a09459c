// Where a value is within another, as people write it: $.users[0].name
import { isContainer } from "./jsonRows";

const PLAIN = /^[A-Za-z_$][\w$]*$/;

/** The JSONPath of a JSON pointer; lists are told from objects by the value itself. */
export function pathOf(root: unknown, pointer: string): string {
  let value = root;
  let path = "$";
  for (const part of pointer.split("/").slice(1)) {
    // A group of rows is no place of its own.
    if (part.startsWith("~:")) break;
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(value)) path += `[${name}]`;
    else path += PLAIN.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    value = isContainer(value) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return path;
}
