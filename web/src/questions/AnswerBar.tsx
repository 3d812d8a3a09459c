import { Button } from "@mantine/core";
import type { FocusEvent, ReactNode } from "react";
import css from "./QuestionPanel.module.css";

interface Props {
  /** Why the last answer was not sent. */
  note: ReactNode;
  /** The buttons; the primary one is last. */
  children: ReactNode;
}

/** The answer buttons, always in view however long the question is. */
export function AnswerBar({ note, children }: Props) {
  return (
    <div className={css.answers} data-answers>
      {note}
      <div className={css.buttons}>{children}</div>
    </div>
  );
}

/** The two ways to refuse an elicitation. */
export function RefuseButtons({ onChoose }: { onChoose(action: "cancel" | "decline"): void }) {
  return (
    <>
      <Button variant="default" onClick={() => onChoose("cancel")}>
        Cancel
      </Button>
      <Button variant="default" onClick={() => onChoose("decline")}>
        Decline
      </Button>
    </>
  );
}

// One line of text: the error below a field.
const LINE_PX = 24;

/** Scrolls a focused field out from under the sticky answer bar. */
export function scrollClearOfAnswerBar({ currentTarget, target }: FocusEvent<HTMLElement>): void {
  const answers = currentTarget.querySelector("[data-answers]");
  // Do not move what the mouse is about to click.
  if (!answers || answers.contains(target) || !target.matches(":focus-visible")) return;
  const end = target.getBoundingClientRect().bottom + LINE_PX;
  if (end > answers.getBoundingClientRect().top) target.scrollIntoView?.({ block: "center" });
}
