import { Button } from "@mantine/core";
import { type FocusEvent, type ReactNode, useCallback, useRef } from "react";
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

/**
 * Handlers for a panel: a field that the keyboard focuses is scrolled out from under the sticky
 * answer bar. One that is being clicked stays, or the button is released over something else.
 */
export function useClearOfAnswerBar() {
  const isPressed = useRef(false);
  const onMouseDownCapture = useCallback(() => {
    isPressed.current = true;
    const release = (): void => {
      isPressed.current = false;
    };
    window.addEventListener("mouseup", release, { capture: true, once: true });
  }, []);
  const onFocus = useCallback(({ currentTarget, target }: FocusEvent<HTMLElement>): void => {
    const answers = currentTarget.querySelector("[data-answers]");
    if (!answers || answers.contains(target) || isPressed.current) return;
    const end = target.getBoundingClientRect().bottom + LINE_PX;
    if (end > answers.getBoundingClientRect().top) target.scrollIntoView?.({ block: "center" });
  }, []);
  return { onMouseDownCapture, onFocus };
}
