import type { PointerEvent, ReactNode } from "react";
import css from "./FormFooter.module.css";

/** Fixes the height of the form while the pointer is over the buttons below it. */
function holdForm({ currentTarget, type }: PointerEvent<HTMLElement>): void {
  const form = currentTarget.previousElementSibling;
  if (!(form instanceof HTMLElement)) return;
  form.style.height = type === "pointerenter" ? `${form.getBoundingClientRect().height}px` : "";
}

/**
 * The buttons of a form, below its last field and always in view; the primary one is first. An
 * error that appears in the form does not move a button from under the pointer.
 */
export const FormFooter = ({ children }: { children: ReactNode }) => (
  <div className={css.foot} onPointerEnter={holdForm} onPointerLeave={holdForm}>
    {children}
  </div>
);

/** The keys that press the primary button, said on it. */
export const RunKeys = () => (
  <span className={css.keys} aria-hidden="true">
    Ctrl ↵
  </span>
);
