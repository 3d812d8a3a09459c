import { TextInput } from "@mantine/core";

import { Icon } from "./icons";

interface Props {
  label: string;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
  className?: string;
  onEnter?(isShifted: boolean): void;
}

/** A field that filters what is beside it; Esc empties it. The key "/" goes to the first one. */
export function SearchField({ label, value, onChange, placeholder, className, onEnter }: Props) {
  return (
    <TextInput
      data-search
      type="search"
      className={className}
      aria-label={label}
      placeholder={placeholder ?? label}
      leftSection={<Icon name="search" size={14} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") onEnter?.(event.shiftKey);
        if (event.key === "Escape" && value) {
          event.stopPropagation();
          onChange("");
        }
      }}
    />
  );
}
