// The plain text of a prompt's messages.
import { isObject } from "../values/jsonObject";

function textIn(block: unknown): string[] {
  if (!isObject(block)) return [];
  if (typeof block.text === "string") return [block.text];
  return textIn(block.resource);
}

/** The text blocks of all messages, with an empty line between them. */
export function promptText(value: unknown): string {
  const messages = isObject(value) && Array.isArray(value.messages) ? value.messages : [];
  return messages
    .flatMap((message: unknown) => (isObject(message) ? [message.content].flat() : []))
    .flatMap(textIn)
    .join("\n\n");
}
