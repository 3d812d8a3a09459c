// Drafts of answers. Question ids restart with each connection, so the key includes run and time; a
// draft is dropped when its question is closed.
import { useCallback } from "react";
import type { QuestionView } from "../api/types";
import { dropDrafts, useDraft } from "../state/browserStorage";
import { useInspector } from "../state/store";

const PREFIX = "question.";

export const draftKey = (
  runId: string | null,
  question: Pick<QuestionView, "question_id" | "opened">,
): string => `${PREFIX}${runId}.${question.opened}.${question.question_id}`;

/** `edited` is called on every change. */
export function useAnswerDraft<T>(
  question: QuestionView,
  initial: T,
  edited: () => void,
): [T, (value: T) => void] {
  const runId = useInspector((state) => state.run_id);
  const [draft, setDraft] = useDraft(draftKey(runId, question), initial);
  const set = useCallback(
    (value: T) => {
      setDraft(value);
      edited();
    },
    [setDraft, edited],
  );
  return [draft, set];
}

useInspector.subscribe((state, former) => {
  if (state.questions === former.questions || state.run_id === null) return;
  const waiting = [...state.questions.values()].filter((question) => !question.is_done);
  dropDrafts(PREFIX, new Set(waiting.map((question) => draftKey(state.run_id, question))));
});
