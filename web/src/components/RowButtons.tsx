// Buttons to add and remove rows.
import { ActionIcon, Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon } from "./Icon";

export function RemoveRowButton({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <ActionIcon aria-label={label} onClick={onClick}>
      <Icon name="close" size={14} />
    </ActionIcon>
  );
}

export function AddRowButton({ children, onClick }: { children: ReactNode; onClick(): void }) {
  return (
    <div>
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<Icon name="add" size={12} />}
        onClick={onClick}
      >
        {children}
      </Button>
    </div>
  );
}
