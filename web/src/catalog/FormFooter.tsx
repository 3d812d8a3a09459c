import type { ReactNode } from "react";
import css from "./FormFooter.module.css";

/** The buttons of a form, below its last field and always in view; the primary one is first. */
export const FormFooter = ({ children }: { children: ReactNode }) => (
  <div className={css.foot}>{children}</div>
);

/** The keys that press the primary button, said on it. */
export const RunKeys = () => (
  <span className={css.keys} aria-hidden="true">
    Ctrl ↵
  </span>
);
