// JSON as a tree that opens piece by piece, with search; smooth for millions of values, since
// only the rows on the screen are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useId, useMemo, useRef, useState } from "react";
import { ExactNumber } from "./exactJson";
import { FindBar, SHORTEST, stepped } from "./FindBar";
import { bytes, cut } from "./format";
import { Icon } from "./icons";
import css from "./JsonTree.module.css";
import {
  above,
  findIn,
  isContainer,
  type JsonRow,
  openAtFirst,
  rowsOf,
  type Toggled,
  withToggled,
} from "./jsonRows";
import { copy, pretty } from "./text";

const ROW_PX = 20;
// Longer strings are cut in the row and shown whole when copied.
const LONGEST = 300;
// Rows that are open before anybody opens one.
const AT_FIRST = 200;
const NOTHING: Toggled = new Map();

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
  // A string of megabytes is not escaped for the sake of its first line.
  const text =
    value instanceof ExactNumber
      ? value.text
      : JSON.stringify(length > LONGEST ? String(value).slice(0, LONGEST) : value);
  return (
    <span className={kindOf(value)}>
      {cut(text ?? "undefined", LONGEST)}
      {length > LONGEST && <span className={css.size}> {bytes(length)}</span>}
    </span>
  );
}

interface Props {
  value: unknown;
  label: string;
  /** Grow with the content up to this many pixels instead of filling the place. */
  most?: number;
  withSearch?: boolean;
}

const copyValue = ({ value }: JsonRow): void =>
  void copy(isContainer(value) ? pretty(value) : String(value));

interface RowProps {
  id: string;
  row: JsonRow;
  top: number;
  isChosen: boolean;
  onClick(): void;
}

function Row({ id, row, top, isChosen, onClick }: RowProps) {
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

/**
 * What a person opened and closed stays so, by its place, while the label is the same: many values
 * come anew and anew with little or nothing changed in them.
 */
export function JsonTree(props: Props) {
  return <Tree key={props.label} {...props} />;
}

function Tree({ value, label, most, withSearch = true }: Props) {
  const id = useId();
  const [toggled, setToggled] = useState(NOTHING);
  const atFirst = useMemo(() => openAtFirst(value, AT_FIRST), [value]);
  const open = useMemo(() => withToggled(atFirst, toggled), [atFirst, toggled]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => rowsOf(value, open), [value, open]);
  const found = useMemo(() => (text.length >= SHORTEST ? findIn(value, text) : []), [value, text]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
    initialRect: { width: 400, height: 600 },
  });
  const at = useMemo(() => rows.findIndex((row) => row.pointer === chosen), [rows, chosen]);

  const toggle = (row: JsonRow): void => setToggled(new Map(toggled).set(row.pointer, !row.isOpen));
  const go = (pointer: string): void => {
    const next = new Map(toggled);
    for (const one of above(pointer)) next.set(one, true);
    setToggled(next);
    setChosen(pointer);
    const shown = rowsOf(value, withToggled(atFirst, next));
    const index = shown.findIndex((row) => row.pointer === pointer);
    requestAnimationFrame(() => virtual.scrollToIndex(index, { align: "center" }));
  };
  const step = (by: number): void => {
    const next = found[stepped(found.indexOf(chosen ?? ""), by, found.length)];
    if (next !== undefined) go(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[at];
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
    };
    let next = moves[event.key];
    if (row && event.key === "ArrowRight" && row.size > 0) {
      if (row.isOpen) next = at + 1;
      else toggle(row);
    } else if (row && event.key === "ArrowLeft") {
      if (row.isOpen) toggle(row);
      else next = rows.findIndex((one) => one.pointer === above(row.pointer).at(-1));
    } else if (row && event.key === "c" && isPlain) {
      copyValue(row);
    } else if (next === undefined) return;
    event.preventDefault();
    const target = next === undefined ? undefined : rows[next];
    if (!target || next === undefined) return;
    setChosen(target.pointer);
    virtual.scrollToIndex(next);
  };
  const drawn = virtual.getVirtualItems();
  // A name of something that is not drawn means nothing.
  const isDrawn = drawn.some((item) => item.index === at);
  const height = most === undefined ? undefined : Math.min(most, rows.length * ROW_PX + 8);
  return (
    <div className={css.tree}>
      {withSearch && rows.length > 24 && (
        <FindBar
          label="Search in JSON"
          text={text}
          onText={setText}
          found={`${found.length} found`}
          canStep={found.length > 0}
          step={step}
        />
      )}
      <div
        ref={scroller}
        className={css.scroller}
        style={{ height }}
        role="tree"
        aria-label={label}
        aria-activedescendant={isDrawn ? `${id}-${at}` : undefined}
        aria-keyshortcuts="c"
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="presentation">
          {drawn.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <Row
                key={row.pointer}
                id={`${id}-${item.index}`}
                row={row}
                top={item.start}
                isChosen={item.index === at}
                onClick={() => {
                  setChosen(row.pointer);
                  if (row.size > 0 && !getSelection()?.toString()) toggle(row);
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}
