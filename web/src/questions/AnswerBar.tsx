import { Button } from "@mantine/core";
import type { FocusEvent, ReactNode } from "react";
import css from "./QuestionPanel.module.css";

interface Props {
  /** Why the last answer was not sent. */
  note: ReactNode;
  /** The buttons; the one that answers is the last. */
  children: ReactNode;
}

/** The ways to answer, in view however long the question is. */
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

// A line of text: what is wrong with a field stands below it.
const LINE_PX = 24;

/** For a panel: what has the focus is not covered by the answers, which stand above the rest. */
export function scrollClearOfAnswerBar({ currentTarget, target }: FocusEvent<HTMLElement>): void {
  const answers = currentTarget.querySelector("[data-answers]");
  // What the mouse is about to press stays where it is.
  if (!answers || answers.contains(target) || !target.matches(":focus-visible")) return;
  const end = target.getBoundingClientRect().bottom + LINE_PX;
  if (end > answers.getBoundingClientRect().top) target.scrollIntoView?.({ block: "center" });
}
