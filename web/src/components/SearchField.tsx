import { CloseButton, TextInput, Tooltip } from "@mantine/core";
import { type KeyboardEvent, useRef } from "react";

import { Icon } from "./Icon";

interface Props {
  label: string;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
  className?: string;
  onEnter?(isShifted: boolean): void;
  /** Moves to the matches. */
  onDown?(): void;
}

/** A search field; Esc clears it. The key "/" focuses the first one on the screen. */
export function SearchField(props: Props) {
  const { label, value, onChange, placeholder, className, onEnter, onDown } = props;
  const field = useRef<HTMLInputElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys of an input method's composition are not meant for the list.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) onEnter?.(event.shiftKey);
    if (event.key === "ArrowDown" && onDown) {
      event.preventDefault();
      onDown();
    }
    if (event.key === "Escape" && value) {
      event.stopPropagation();
      onChange("");
    }
  };
  const clear = (): void => {
    onChange("");
    field.current?.focus();
  };
  return (
    <TextInput
      ref={field}
      data-search
      type="search"
      className={className}
      aria-label={label}
      placeholder={placeholder ?? label}
      leftSection={<Icon name="search" size={14} />}
      rightSection={
        value && (
          <Tooltip label="Clear this field (Esc)">
            <CloseButton size="sm" aria-label="Clear this field" onClick={clear} />
          </Tooltip>
        )
      }
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}
