import type { ReactNode } from "react";
import css from "./FormFooter.module.css";

/** The buttons of a form, always in view below it; the primary one is last. */
export const FormFooter = ({ children }: { children: ReactNode }) => (
  <div className={css.foot}>{children}</div>
);
