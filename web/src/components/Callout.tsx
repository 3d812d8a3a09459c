// A sentence that must not be overlooked: a warning, or a plain note.
import type { ReactNode } from "react";
import { asSentence } from "../values/format";
import css from "./Callout.module.css";
import { Icon } from "./Icon";

export function Callout({
  tone = "wait",
  children,
}: {
  tone?: "wait" | "info";
  children: ReactNode;
}) {
  return (
    <div className={`${css.callout} ${css[tone]}`} role="note">
      <Icon name={tone === "wait" ? "alert" : "info"} />
      <div className="grow">{typeof children === "string" ? asSentence(children) : children}</div>
    </div>
  );
}
