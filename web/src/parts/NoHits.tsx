import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { visible } from "../values/hiddenCharacters";
import { Empty } from "./Empty";

interface Props {
  title: string;
  /** What the filter is, where its title does not say it. */
  children?: ReactNode;
  action?: string;
  onClear(): void;
}

/** In place of a list that a filter leaves nothing of. */
export function NoFit({ title, children, action = "Show all", onClear }: Props) {
  return (
    <Empty
      icon="search"
      title={title}
      action={
        <Button variant="default" size="compact-sm" onClick={onClear}>
          {action}
        </Button>
      }
    >
      {children}
    </Empty>
  );
}

/** In place of a list that a search leaves nothing of. */
export const NoHits = ({ text, onClear }: { text: string; onClear(): void }) => (
  <NoFit title={`Nothing matches “${visible(text.trim())}”`} onClear={onClear} />
);
