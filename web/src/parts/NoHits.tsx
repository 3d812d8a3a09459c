import { Button } from "@mantine/core";
import { Empty } from "./Empty";

/** In place of a list that a search leaves nothing of. */
export function NoHits({ text, onClear }: { text: string; onClear(): void }) {
  return (
    <Empty
      icon="search"
      title={`Nothing matches “${text.trim()}”`}
      action={
        <Button variant="default" size="compact-sm" onClick={onClear}>
          Show all
        </Button>
      }
    />
  );
}
