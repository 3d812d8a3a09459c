// One row of a JSON tree: name and value, truncated to a line, and what can be done with it.
import { useState } from "react";
import { ExactNumber } from "../values/exactJson";
import { formatBytes, truncate } from "../values/format";
import { pretty } from "../values/json";
import { previewOf } from "../values/jsonPreview";
import { isContainer, isGroup, type JsonRow } from "../values/jsonRows";
import { recognise } from "../values/recognised";
import { tableOf } from "../values/tables";
import { copyText } from "./clipboard";
import { downloadBase64 } from "./download";
import { Icon, type IconName } from "./Icon";
import css from "./JsonTree.module.css";

// Longer strings are truncated in the row; copying gives all of it.
const LONGEST = 300;

/** What the keys and buttons of a row do. */
export interface RowActions {
  copyPath(row: JsonRow): void;
  expandAll(row: JsonRow): void;
  showTable(row: JsonRow): void;
}

function kindOf(value: unknown): string | undefined {
  if (typeof value === "string") return css.string;
  if (typeof value === "number" || value instanceof ExactNumber) return css.number;
  return css.word;
}

/** A text with what is searched for marked in it. */
function Marked({ text, needle }: { text: string; needle: string }) {
  const at = needle ? text.toLowerCase().indexOf(needle) : -1;
  if (at < 0) return text;
  const end = at + needle.length;
  return (
    <>
      {text.slice(0, at)}
      <mark className={css.found}>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </>
  );
}

function Container({ row }: { row: JsonRow }) {
  const [start, end] = Array.isArray(row.value) ? ["[", "]"] : ["{", "}"];
  if (row.size === 0) return <span className={css.mark}>{start + end}</span>;
  // A group stands for a thousand values; none of them says what the others are.
  const folded = isGroup(row.pointer) ? `${start}…${end}` : null;
  return (
    <span className={css.mark}>
      {row.isOpen ? start : (folded ?? previewOf(row.value))}{" "}
      <span className={css.size}>{row.size}</span>
    </span>
  );
}

function Value({ row, needle }: { row: JsonRow; needle: string }) {
  if (row.size >= 0) return <Container row={row} />;
  const { value } = row;
  const length = typeof value === "string" ? value.length : 0;
  // Do not escape megabytes only to show the first line.
  const text =
    value instanceof ExactNumber
      ? value.text
      : JSON.stringify(length > LONGEST ? String(value).slice(0, LONGEST) : value);
  const known = recognise(row.name, value);
  return (
    <>
      <span className={kindOf(value)}>
        <Marked text={truncate(text ?? "undefined", LONGEST)} needle={needle} />
        {length > LONGEST && <span className={css.size}> {formatBytes(length)}</span>}
      </span>
      {known && <span className={css.note}>{known.note}</span>}
    </>
  );
}

export const copyValue = ({ value }: JsonRow): void =>
  void copyText(isContainer(value) ? pretty(value) : String(value));

function Action({ icon, label, onClick }: { icon: IconName; label: string; onClick(): void }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      className={`plain ${css.action}`}
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
    >
      <Icon name={icon} size={12} />
    </button>
  );
}

function Actions({ row, actions }: { row: JsonRow; actions: RowActions }) {
  const { value } = row;
  const isWhole = !isGroup(row.pointer);
  const bytes = recognise(row.name, value)?.bytes;
  return (
    <span className={css.actions}>
      <Action icon="copy" label="Copy this value" onClick={() => copyValue(row)} />
      {isWhole && <Action icon="path" label="Copy path" onClick={() => actions.copyPath(row)} />}
      {isWhole && row.size > 0 && (
        <Action icon="expand" label="Expand all below" onClick={() => actions.expandAll(row)} />
      )}
      {isWhole && row.size > 1 && tableOf(value) && (
        <Action icon="table" label="Show as table" onClick={() => actions.showTable(row)} />
      )}
      {bytes && (
        <Action
          icon="download"
          label="Download the decoded bytes"
          onClick={() => downloadBase64(String(value), row.name ?? "value", bytes)}
        />
      )}
    </span>
  );
}

interface Props {
  id: string;
  row: JsonRow;
  top: number;
  isChosen: boolean;
  /** What is searched for, in lower case. */
  needle: string;
  actions: RowActions;
  onClick(): void;
}

export function JsonTreeRow({ id, row, top, isChosen, needle, actions, onClick }: Props) {
  // Buttons of rows that nobody points at would slow a long tree down.
  const [isOver, setOver] = useState(false);
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
      onMouseEnter={() => setOver(true)}
      onMouseLeave={() => setOver(false)}
    >
      <span className={css.twist} data-open={row.isOpen}>
        {row.size > 0 && <Icon name="chevron" size={10} />}
      </span>
      {row.name !== null && (
        <span className={css.name}>
          <Marked text={row.name} needle={needle} />
        </span>
      )}
      <Value row={row} needle={needle} />
      {(isOver || isChosen) && <Actions row={row} actions={actions} />}
    </div>
  );
}
