// A small plain button, beside what it acts on.
import { Button } from "@mantine/core";

export function SmallButton({ children, onClick }: { children: string; onClick(): void }) {
  return (
    <Button size="compact-xs" variant="default" onClick={onClick}>
      {children}
    </Button>
  );
}
