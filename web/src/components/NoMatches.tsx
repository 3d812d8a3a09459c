import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import { EmptyState } from "./EmptyState";

interface Props {
  title: string;
  /** What the filter is, where its title does not say it. */
  children?: ReactNode;
  action?: string;
  onClear(): void;
}

/** In place of a list that a filter leaves nothing of. */
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

/** In place of a list that a search leaves nothing of. */
export const NoSearchMatches = ({ text, onClear }: { text: string; onClear(): void }) => (
  <NoMatches title={`Nothing matches “${visible(text.trim())}”`} onClear={onClear} />
);
