// A field to search in what is shown below it, how often it was found, and steps between these.
import { ActionIcon } from "@mantine/core";
import css from "./FindBar.module.css";
import { Icon } from "./Icon";
import { SearchField } from "./SearchField";

interface Props {
  label: string;
  text: string;
  onText(text: string): void;
  /** What was found, in words: "3 found". */
  found: string;
  canStep: boolean;
  step(by: number): void;
}

/** Texts shorter than this find too much. */
export const MIN_LENGTH = 2;

/** The place after (1) or before (-1) this one, round and round; from -1, which is none, too. */
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
