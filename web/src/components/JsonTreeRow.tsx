// One row of a JSON tree: name and value, truncated to a line, and what can be done with it.
import { useState } from "react";
import { ExactNumber } from "../values/exactJson";
import { formatBytes, pluralize, truncate } from "../values/format";
import { pretty } from "../values/json";
import { previewOf } from "../values/jsonPreview";
import { isContainer, isGroup, type JsonRow } from "../values/jsonRows";
import { recognise } from "../values/recognised";
import { tableOf } from "../values/tables";
import { copyText } from "./clipboard";
import { downloadBase64 } from "./download";
import { Icon, type IconName } from "./Icon";
import css from "./JsonTree.module.css";

// Longer strings are truncated in the row; copying and showing give all of it.
const LONGEST = 300;
// Longer strings may not fit into a row.
const WIDE = 40;
// Characters of a value that deep nesting leaves room for; the tree scrolls sideways beyond that.
const LEAST_VALUE = 24;
// Of a string, so much is shown before what is searched for.
const LEAD = 20;

/** What the keys and buttons of a row do. */
export interface RowActions {
  copyPath(row: JsonRow): void;
  expandAll(row: JsonRow): void;
  /** Show a node instead of the tree: as a table, or as the whole text. */
  show(row: JsonRow): void;
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
  const isList = Array.isArray(row.value);
  const [start, end] = isList ? ["[", "]"] : ["{", "}"];
  if (row.size === 0) return <span className={css.mark}>{start + end}</span>;
  // A group stands for a thousand values; none of them says what the others are.
  const folded = isGroup(row.pointer) ? `${start}…${end}` : null;
  return (
    <>
      <span className={`${css.mark} ${css.value}`}>
        {row.isOpen ? start : (folded ?? previewOf(row.value))}
      </span>
      <span className={css.size}>{pluralize(row.size, isList ? "item" : "key")}</span>
    </>
  );
}

/** How many characters a row keeps room for beside its name. */
function roomOf({ value, size, isOpen }: JsonRow): number {
  // As much again for what stands beside a truncated text.
  if (isTruncated(value)) return 2 * LEAST_VALUE;
  // Quotes and the space before them, or a bracket and the number of what is in it.
  if (typeof value === "string") return Math.min(value.length + 3, LEAST_VALUE);
  return size >= 0 && isOpen ? LEAST_VALUE / 2 : LEAST_VALUE;
}

/** Whether a value is a text that a row may show in part only. */
export const isWide = (value: unknown): value is string =>
  typeof value === "string" && (value.length > WIDE || value.includes("\n"));

const isTruncated = (value: unknown): value is string =>
  typeof value === "string" && value.length > LONGEST;

/** A string as JSON: its beginning, or the part with what is searched for; … stands for the rest. */
function excerptOf(value: string, needle: string): string {
  const at = needle && value.length > WIDE ? value.toLowerCase().indexOf(needle) : 0;
  const start = Math.max(0, at - LEAD);
  const end = start + LONGEST;
  // Do not escape megabytes only to show a line.
  const text = JSON.stringify(value.slice(start, end));
  const begun = start > 0 ? `…${text.slice(1)}` : text;
  return end < value.length ? `${begun.slice(0, -1)}…` : begun;
}

function textOf(value: unknown, needle: string): string {
  if (typeof value === "string") return excerptOf(value, needle);
  const text = value instanceof ExactNumber ? value.text : JSON.stringify(value);
  return truncate(text ?? "undefined", LONGEST);
}

interface ValueProps {
  row: JsonRow;
  needle: string;
  actions: RowActions;
}

function Value({ row, needle, actions }: ValueProps) {
  if (row.size >= 0) return <Container row={row} />;
  const { value } = row;
  const known = recognise(row.name, value);
  return (
    <>
      <span
        className={`${kindOf(value)} ${css.value}`}
        title={isWide(value) ? "Press Enter to show the whole text" : undefined}
      >
        <Marked text={textOf(value, needle)} needle={needle} />
      </span>
      {isTruncated(value) && (
        <span className={css.size}>
          {formatBytes(value.length)}{" "}
          <button
            type="button"
            tabIndex={-1}
            className={`plain ${css.more}`}
            onClick={() => actions.show(row)}
          >
            Show all
          </button>
        </span>
      )}
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
        <Action icon="table" label="Show as table" onClick={() => actions.show(row)} />
      )}
      {isWide(value) && !isTruncated(value) && (
        <Action icon="logs" label="Show the whole text" onClick={() => actions.show(row)} />
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
  const indent = 4 + row.depth * 14;
  const least = `calc(${indent}px + ${(row.name?.length ?? 0) + roomOf(row)}ch)`;
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
      data-truncated={isTruncated(row.value) || undefined}
      style={{ transform: `translateY(${top}px)`, paddingLeft: indent, minWidth: least }}
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
      <Value row={row} needle={needle} actions={actions} />
      {(isOver || isChosen) && <Actions row={row} actions={actions} />}
    </div>
  );
}
