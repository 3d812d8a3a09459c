// One-line summaries of questions.
import type { CallView, QuestionView } from "../api/types";
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

const MOST_CALLS = 3;

/** The newest calls that ran when a question was asked: one of them may have caused it. */
export function callsDuring({ server_id, opened }: QuestionView, calls: CallView[]): CallView[] {
  const isDuring = ({ started, elapsed_s }: CallView): boolean =>
    started <= opened && (elapsed_s === null || opened <= started + elapsed_s);
  return calls.filter((call) => call.server_id === server_id && isDuring(call)).slice(-MOST_CALLS);
}
