// One row of a JSON tree: name and value, truncated to a line.
import { ExactNumber } from "../values/exactJson";
import { formatBytes, truncate } from "../values/format";
import { pretty } from "../values/json";
import { isContainer, type JsonRow } from "../values/jsonRows";
import { copyText } from "./clipboard";
import { Icon } from "./Icon";
import css from "./JsonTree.module.css";

// Longer strings are truncated in the row; copying gives all of it.
const LONGEST = 300;

function kindOf(value: unknown): string | undefined {
  if (typeof value === "string") return css.string;
  if (typeof value === "number" || value instanceof ExactNumber) return css.number;
  return css.word;
}

function Value({ row }: { row: JsonRow }) {
  if (row.size >= 0) {
    const [start, end] = Array.isArray(row.value) ? ["[", "]"] : ["{", "}"];
    if (row.size === 0) return <span className={css.mark}>{start + end}</span>;
    return (
      <span className={css.mark}>
        {row.isOpen ? start : `${start}…${end}`} <span className={css.size}>{row.size}</span>
      </span>
    );
  }
  const { value } = row;
  const length = typeof value === "string" ? value.length : 0;
  // Do not escape megabytes only to show the first line.
  const text =
    value instanceof ExactNumber
      ? value.text
      : JSON.stringify(length > LONGEST ? String(value).slice(0, LONGEST) : value);
  return (
    <span className={kindOf(value)}>
      {truncate(text ?? "undefined", LONGEST)}
      {length > LONGEST && <span className={css.size}> {formatBytes(length)}</span>}
    </span>
  );
}

export const copyValue = ({ value }: JsonRow): void =>
  void copyText(isContainer(value) ? pretty(value) : String(value));

interface Props {
  id: string;
  row: JsonRow;
  top: number;
  isChosen: boolean;
  onClick(): void;
}

export function JsonTreeRow({ id, row, top, isChosen, onClick }: Props) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree itself handles the keys
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.depth + 1}
      aria-expanded={row.size > 0 ? row.isOpen : undefined}
      aria-selected={isChosen}
      className={css.row}
      style={{ transform: `translateY(${top}px)`, paddingLeft: 4 + row.depth * 14 }}
      onClick={onClick}
    >
      <span className={css.twist} data-open={row.isOpen}>
        {row.size > 0 && <Icon name="chevron" size={10} />}
      </span>
      {row.name !== null && <span className={css.name}>{row.name}</span>}
      <Value row={row} />
      <button
        type="button"
        tabIndex={-1}
        className={`plain ${css.copy}`}
        aria-label="Copy this value"
        onClick={(event) => {
          event.stopPropagation();
          copyValue(row);
        }}
      >
        <Icon name="copy" size={12} />
      </button>
    </div>
  );
}
