// A text field that asks the server for suggestions, where it offers them.
import { CloseButton, Combobox, Textarea, TextInput, useCombobox } from "@mantine/core";
import type { ChangeEvent, KeyboardEvent, ReactNode } from "react";
import { UntrustedText } from "../components/UntrustedText";
import { visible } from "../values/hiddenCharacters";
import { type CompletionArgument, useCompletions } from "./useCompletions";

interface Props extends CompletionArgument {
  title?: string;
  description?: string;
  isRequired?: boolean;
  /** Validation error. */
  problem?: string | undefined;
  /** Multi-line input. */
  isLong?: boolean;
  onChange(value: string): void;
  /** Set for optional arguments that can be removed. */
  onRemove?(): void;
}

const named = (name: string, title?: string): ReactNode =>
  title && title !== name ? (
    <>
      <UntrustedText>{title}</UntrustedText>{" "}
      <span className="mono dim">
        <UntrustedText>{name}</UntrustedText>
      </span>
    </>
  ) : (
    <UntrustedText>{name}</UntrustedText>
  );

export function CompletionField({
  title,
  description,
  isRequired,
  problem,
  isLong = false,
  onChange,
  onRemove,
  ...argument
}: Props) {
  const { name, values } = argument;
  const { found, ask } = useCompletions(argument);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const value = values[name] ?? "";
  // The current value is not a suggestion; a dropdown with only that would just cover the page.
  const isOpen = combobox.dropdownOpened && found.values.some((one) => one !== value);
  const field = {
    label: named(name, title),
    description: description && visible(description),
    required: isRequired,
    error: problem,
    value,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      const typed = event.currentTarget.value;
      onChange(typed);
      ask(typed);
      combobox.resetSelectedOption();
      combobox.openDropdown();
    },
    onFocus: () => {
      ask(value);
      combobox.openDropdown();
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isRun = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (!isRun && event.key !== "Escape") return;
      // Run with the typed value, not with the highlighted suggestion.
      combobox.resetSelectedOption();
      combobox.closeDropdown();
    },
    onBlur: () => combobox.closeDropdown(),
    "aria-autocomplete": "list" as const,
    rightSection: onRemove && <CloseButton aria-label={`Remove ${name}`} onClick={onRemove} />,
  };
  const pick = (chosen: string): void => {
    onChange(chosen);
    combobox.closeDropdown();
  };
  return (
    <div>
      <Combobox store={combobox} onOptionSubmit={pick}>
        <Combobox.Target
          // In multi-line text the arrow keys move the caret, unless suggestions are shown.
          withKeyboardNavigation={!isLong || isOpen}
          withExpandedAttribute={!isLong}
          autoComplete="off"
        >
          {/* A textarea keeps the textbox role: a combobox has a single line. */}
          {isLong ? <Textarea {...field} autosize maxRows={12} /> : <TextInput {...field} />}
        </Combobox.Target>
        <Combobox.Dropdown hidden={!isOpen}>
          <Combobox.Options
            aria-label={`Suggestions for ${name}`}
            mah={240}
            style={{ overflowY: "auto" }}
          >
            {found.values.map((one) => (
              <Combobox.Option key={one} value={one}>
                <UntrustedText>{one}</UntrustedText>
              </Combobox.Option>
            ))}
          </Combobox.Options>
          {found.more && (
            <Combobox.Footer>
              <span className="dim">{found.more}</span>
            </Combobox.Footer>
          )}
        </Combobox.Dropdown>
      </Combobox>
      {found.problem && (
        <span className="dim" role="status">
          No suggestions: {found.problem}
        </span>
      )}
    </div>
  );
}
