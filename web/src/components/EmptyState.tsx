// An empty state that says what to do next.
import type { ReactNode } from "react";
import css from "./EmptyState.module.css";
import { Icon, type IconName } from "./Icon";

interface Props {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: Props) {
  return (
    <div className={css.empty}>
      <span className={css.icon}>
        <Icon name={icon} size={22} />
      </span>
      <p className={css.title}>{title}</p>
      {children && <div className={css.text}>{children}</div>}
      {action}
    </div>
  );
}
