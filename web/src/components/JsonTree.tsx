// JSON as a collapsible tree with search. Only visible rows are rendered, so millions of values are
// fine.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useId, useMemo, useRef, useState } from "react";
import {
  ancestorsOf,
  findIn,
  hasMoreValuesThan,
  initiallyOpen,
  type JsonRow,
  matchCountLabel,
  rowsOf,
  type ToggledNodes,
  withToggled,
} from "../values/jsonRows";
import { FindBar, MIN_LENGTH, nextMatch } from "./FindBar";
import css from "./JsonTree.module.css";
import { JsonTreeRow } from "./JsonTreeRow";
import { useJsonTreeKeys } from "./useJsonTreeKeys";

const ROW_PX = 20;
// Rows that are expanded initially.
const AT_FIRST = 200;
// Values of this size need no search.
const SMALL = 24;
const NOTHING: ToggledNodes = new Map();

interface Props {
  value: unknown;
  label: string;
  /** Grow with the content up to this many pixels instead of filling the parent. */
  most?: number;
  withSearch?: boolean;
}

/**
 * Nodes that the user toggled stay so, by pointer, while the label is the same: many values are
 * replaced often with little change.
 */
export function JsonTree(props: Props) {
  return <Tree key={props.label} {...props} />;
}

interface OpenNodes {
  rows: JsonRow[];
  toggle(row: JsonRow): void;
  /** Expand all ancestors of a node; returns the index of its row. */
  reveal(pointer: string): number;
}

function useOpenNodes(value: unknown): OpenNodes {
  const [toggled, setToggled] = useState(NOTHING);
  const atFirst = useMemo(() => initiallyOpen(value, AT_FIRST), [value]);
  const rows = useMemo(
    () => rowsOf(value, withToggled(atFirst, toggled)),
    [value, atFirst, toggled],
  );
  return {
    rows,
    toggle: (row) => setToggled(new Map(toggled).set(row.pointer, !row.isOpen)),
    reveal: (pointer) => {
      const next = new Map(toggled);
      for (const one of ancestorsOf(value, pointer)) next.set(one, true);
      setToggled(next);
      const shown = rowsOf(value, withToggled(atFirst, next));
      return shown.findIndex((row) => row.pointer === pointer);
    },
  };
}

const foundIn = (value: unknown, text: string): string[] =>
  text.length >= MIN_LENGTH ? findIn(value, text) : [];

interface SearchProps {
  value: unknown;
  chosen: string | null;
  onFound(pointer: string): void;
}

function Search({ value, chosen, onFound }: SearchProps) {
  const [text, setText] = useState("");
  // A search through megabytes must not block typing.
  const wanted = useDeferredValue(text);
  const found = useMemo(() => foundIn(value, wanted), [value, wanted]);
  const step = (by: number): void => {
    const all = wanted === text ? found : foundIn(value, text);
    const next = all[nextMatch(all.indexOf(chosen ?? ""), by, all.length)];
    if (next !== undefined) onFound(next);
  };
  return (
    <FindBar
      label="Search in JSON"
      text={text}
      onText={setText}
      found={matchCountLabel(found.length)}
      canStep={found.length > 0}
      step={step}
    />
  );
}

function Tree({ value, label, most, withSearch = true }: Props) {
  const id = useId();
  const { rows, toggle, reveal } = useOpenNodes(value);
  const [chosen, setChosen] = useState<string | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const isLarge = useMemo(() => hasMoreValuesThan(value, SMALL), [value]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
    initialRect: { width: 400, height: 600 },
  });
  const at = useMemo(() => rows.findIndex((row) => row.pointer === chosen), [rows, chosen]);
  const choose = (index: number): void => {
    const row = rows[index];
    if (!row) return;
    setChosen(row.pointer);
    virtual.scrollToIndex(index);
  };
  const go = (pointer: string): void => {
    const index = reveal(pointer);
    setChosen(pointer);
    requestAnimationFrame(() => virtual.scrollToIndex(index, { align: "center" }));
  };
  const onKeyDown = useJsonTreeKeys({ rows, at, toggle, choose });
  const drawn = virtual.getVirtualItems();
  // aria-activedescendant may only name a rendered row.
  const isDrawn = drawn.some((item) => item.index === at);
  const height = most === undefined ? undefined : Math.min(most, rows.length * ROW_PX + 8);
  return (
    <div className={css.tree}>
      {withSearch && isLarge && <Search value={value} chosen={chosen} onFound={go} />}
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
              <JsonTreeRow
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
