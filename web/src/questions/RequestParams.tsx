// The params of a question as JSON. JavaScript may have rounded numbers in the view, so the exact
// text is fetched where needed.
import { useEffect, useState } from "react";
import { fetchParams } from "../api/http";
import type { QuestionView } from "../api/types";
import { JsonTree } from "../components/JsonTree";
import { parseExactly } from "../values/exactJson";
import css from "./QuestionPanel.module.css";

/** Whether a number in here may have been rounded. */
export function mayBeRounded(value: unknown): boolean {
  if (typeof value === "number")
    // Rounded numbers have at least 16 digits, or are large.
    return Math.abs(value) > Number.MAX_SAFE_INTEGER || String(value).length > 16;
  return typeof value === "object" && value !== null && Object.values(value).some(mayBeRounded);
}

type Exact = { of: unknown; value: unknown } | null;

/** The params of a question; `isRounded` if the exact text could not be fetched. */
export function useExactParams(question: QuestionView): { value: unknown; isRounded: boolean } {
  const { question_id, params } = question;
  const [exact, setExact] = useState<Exact>(null);
  const isDoubtful = mayBeRounded(params);
  useEffect(() => {
    if (!isDoubtful) return;
    let isGone = false;
    fetchParams(question_id).then(
      (text) => !isGone && setExact({ of: params, value: parseExactly(text).value }),
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [question_id, params, isDoubtful]);
  const value = exact && exact.of === params ? exact.value : params;
  return { value, isRounded: isDoubtful && value === params };
}

export function RequestParams({ question, label }: { question: QuestionView; label: string }) {
  const { value, isRounded } = useExactParams(question);
  return (
    <>
      {isRounded && <p className="dim">Large numbers may be rounded here.</p>}
      <JsonTree value={value} label={label} most={300} withSearch={false} />
    </>
  );
}

/** The whole request as JSON, collapsed. */
export function WholeRequest({ question, isOdd }: { question: QuestionView; isOdd: boolean }) {
  const [isOpen, setOpen] = useState(isOdd);
  return (
    <details
      className={css.details}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Whole request</summary>
      {isOpen && <RequestParams question={question} label="Request" />}
    </details>
  );
}
