import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import { EmptyState } from "./EmptyState";

interface Props {
  title: string;
  /** Description of the filter, if the title does not say it. */
  children?: ReactNode;
  action?: string;
  onClear(): void;
}

/** Shown in place of a list if no item matches a filter. */
export function NoMatches({ title, children, action = "Show all", onClear }: Props) {
  return (
    <EmptyState
      icon="search"
      title={title}
      action={
        <Button variant="default" size="compact-sm" onClick={onClear}>
          {action}
        </Button>
      }
    >
      {children}
    </EmptyState>
  );
}

/** Shown in place of a list if no item matches a search. */
export const NoSearchMatches = ({ text, onClear }: { text: string; onClear(): void }) => (
  <NoMatches title={`Nothing matches “${visible(text.trim())}”`} onClear={onClear} />
);
