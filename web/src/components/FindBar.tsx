// A search field with the number of matches and buttons to step through them.
import { ActionIcon } from "@mantine/core";
import css from "./FindBar.module.css";
import { Icon } from "./Icon";
import { SearchField } from "./SearchField";

interface Props {
  label: string;
  text: string;
  onText(text: string): void;
  /** Number of matches as text: "3 found". */
  found: string;
  canStep: boolean;
  step(by: number): void;
}

/** Shorter texts match too much. */
export const MIN_LENGTH = 2;

/** The next (1) or previous (-1) match, wrapping around; -1 means none. */
export const nextMatch = (at: number, by: number, count: number): number =>
  count === 0 ? -1 : at < 0 && by < 0 ? count - 1 : (at + by + count) % count;

export function FindBar({ label, text, onText, found, canStep, step }: Props) {
  return (
    <div className={css.bar}>
      <SearchField
        label={label}
        value={text}
        onChange={onText}
        className="grow"
        onEnter={(isShifted) => step(isShifted ? -1 : 1)}
      />
      <span className={`dim ${css.found}`} role="status">
        {text.length >= MIN_LENGTH && found}
      </span>
      <ActionIcon aria-label="Previous match" disabled={!canStep} onClick={() => step(-1)}>
        <Icon name="up" size={14} />
      </ActionIcon>
      <ActionIcon aria-label="Next match" disabled={!canStep} onClick={() => step(1)}>
        <Icon name="down" size={14} />
      </ActionIcon>
    </div>
  );
}
