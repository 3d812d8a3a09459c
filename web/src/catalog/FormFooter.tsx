import type { ReactNode } from "react";
import css from "./FormFooter.module.css";

/** The buttons of a form, below it and always in view; the one that calls is the last. */
export const FormFooter = ({ children }: { children: ReactNode }) => (
  <div className={css.foot}>{children}</div>
);
