import type { ReactNode } from "react";
import css from "./QuestionPanel.module.css";

interface Props {
  /** Why the last answer was not sent. */
  note: ReactNode;
  /** The buttons; the one that answers is the last. */
  children: ReactNode;
}

/** The ways to answer, in view however long the question is. */
export function Answers({ note, children }: Props) {
  return (
    <div className={css.answers}>
      {note}
      <div className={css.buttons}>{children}</div>
    </div>
  );
}
