// One-line summaries of questions.
import type { QuestionView } from "../api/types";
import { visible } from "../values/hiddenCharacters";
import { fieldsOf } from "../values/jsonObject";
import { asText, parseSampling } from "./questionParams";

/** Summary of a question: its message, or the last text of the sampling messages. */
export function questionSummary(question: QuestionView): string {
  if (question.method !== "sampling/createMessage") {
    const { message } = fieldsOf(question.params);
    return message === undefined ? "" : visible(asText(message));
  }
  const blocks = parseSampling(question.params)
    .messages.flatMap(({ content }) =>
      Array.isArray(content) ? (content as unknown[]) : [content],
    )
    .map(fieldsOf);
  const last = blocks.findLast((block) => typeof block.text === "string") ?? blocks.at(-1);
  return visible(asText(last?.text ?? last?.type ?? ""));
}

/** The configured name of the server that asks: it could call itself anything. */
export const askerName = ({ server_id }: QuestionView): string => visible(server_id);
