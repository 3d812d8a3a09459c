// JSON as a collapsible tree with search. Only visible rows are rendered, so millions of values are
// fine.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { pathOf } from "../values/jsonPath";
import {
  ancestorsOf,
  containersBelow,
  findIn,
  hasMoreValuesThan,
  initiallyOpen,
  isGroup,
  type JsonRow,
  MAX_MATCHES,
  rowsOf,
  type ToggledNodes,
  withToggled,
} from "../values/jsonRows";
import { mainTable, tableOf, valueAt } from "../values/tables";
import { copyText } from "./clipboard";
import { FindBar, MIN_LENGTH, nextMatch } from "./FindBar";
import css from "./JsonTree.module.css";
import { JsonTreeRow, type RowActions } from "./JsonTreeRow";
import { SmallButton } from "./SmallButton";
import { TextView } from "./TextView";
import { useJsonTreeKeys } from "./useJsonTreeKeys";
import { ValueTable } from "./ValueTable";

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
  return <TreeOrNode key={props.label} {...props} />;
}

/**
 * One node can be shown instead of the tree: a list of like objects as a table, for which a button
 * is offered where there is one, and a text that its row truncates.
 */
function TreeOrNode(props: Props) {
  const { value, label, most } = props;
  const [pointer, setPointer] = useState<string | null>(null);
  // Kept for the way back.
  const [toggled, setToggled] = useState(NOTHING);
  const [chosen, setChosen] = useState<string | null>(null);
  const offered = useMemo(() => mainTable(value), [value]);
  const node = pointer === null ? undefined : valueAt(value, pointer);
  const table = useMemo(() => tableOf(node), [node]);
  if (pointer === null || (!table && typeof node !== "string"))
    return (
      <Tree
        {...props}
        tableAt={offered}
        onShow={(row) => {
          setChosen(row);
          setPointer(row);
        }}
        {...{ toggled, setToggled, chosen, setChosen }}
      />
    );
  return (
    <div className={css.tree}>
      <div className={css.bar}>
        <span className={`mono dim cut ${css.path}`}>{pathOf(value, pointer)}</span>
        <SmallButton onClick={() => setPointer(null)}>Tree</SmallButton>
      </div>
      {table ? (
        <ValueTable table={table} label={`${label} as a table`} most={most} />
      ) : (
        <TextView text={String(node)} label={`Whole text in ${label}`} most={most} />
      )}
    </div>
  );
}

interface TreeState {
  toggled: ToggledNodes;
  setToggled(toggled: ToggledNodes): void;
  /** Pointer of the chosen row. */
  chosen: string | null;
  setChosen(pointer: string): void;
}

interface OpenNodes {
  rows: JsonRow[];
  toggle(row: JsonRow): void;
  expandAll(row: JsonRow): void;
  /** Expand all ancestors of a node; returns the index of its row. */
  reveal(pointer: string): number;
}

function useOpenNodes(value: unknown, { toggled, setToggled }: TreeState): OpenNodes {
  const atFirst = useMemo(() => initiallyOpen(value, AT_FIRST), [value]);
  const rows = useMemo(
    () => rowsOf(value, withToggled(atFirst, toggled)),
    [value, atFirst, toggled],
  );
  return {
    rows,
    toggle: (row) => setToggled(new Map(toggled).set(row.pointer, !row.isOpen)),
    expandAll: ({ value: node, pointer }) => {
      const next = new Map(toggled);
      for (const one of containersBelow(node, pointer)) next.set(one, true);
      setToggled(next);
    },
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

const placeLabel = (at: number, count: number): string => {
  const all = count > MAX_MATCHES ? `${MAX_MATCHES}+` : String(count);
  return at < 0 ? `${all} found` : `${at + 1} of ${all}`;
};

interface SearchProps {
  value: unknown;
  chosen: string | null;
  text: string;
  onText(text: string): void;
  onFound(pointer: string): void;
}

function Search({ value, chosen, text, onText, onFound }: SearchProps) {
  // A search through megabytes must not block typing.
  const wanted = useDeferredValue(text);
  const found = useMemo(() => foundIn(value, wanted), [value, wanted]);
  const step = (by: number): void => {
    const all = wanted === text ? found : foundIn(value, text);
    const next = all[nextMatch(all.indexOf(chosen ?? ""), by, all.length)];
    if (next !== undefined) onFound(next);
  };
  const first = found[0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens the first match of each new text
  useEffect(() => {
    if (first !== undefined) onFound(first);
  }, [wanted]);
  return (
    <FindBar
      label="Search in JSON"
      text={text}
      onText={onText}
      found={placeLabel(found.indexOf(chosen ?? ""), found.length)}
      canStep={found.length > 0}
      step={step}
    />
  );
}

interface TreeProps extends Props, TreeState {
  /** Where a table is worth a button. */
  tableAt: string | null;
  /** Show a node as a table or as text. */
  onShow(pointer: string): void;
}

function Tree(props: TreeProps) {
  const { value, label, most, withSearch = true, tableAt, onShow, chosen, setChosen } = props;
  const id = useId();
  const { rows, toggle, expandAll, reveal } = useOpenNodes(value, props);
  const [sought, setSought] = useState("");
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
  const actions: RowActions = {
    copyPath: ({ pointer }) => void copyText(pathOf(value, pointer)),
    expandAll: (row) => !isGroup(row.pointer) && expandAll(row),
    show: ({ pointer }) => onShow(pointer),
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, on the way back from a node
  useEffect(() => {
    if (at < 0) return;
    virtual.scrollToIndex(at, { align: "center" });
    scroller.current?.focus({ preventScroll: true });
  }, []);
  const onKeyDown = useJsonTreeKeys({ rows, at, toggle, choose, actions });
  const drawn = virtual.getVirtualItems();
  // aria-activedescendant may only name a rendered row.
  const isDrawn = drawn.some((item) => item.index === at);
  const height = most === undefined ? undefined : Math.min(most, rows.length * ROW_PX + 8);
  const needle = sought.length >= MIN_LENGTH ? sought.toLowerCase() : "";
  const hasSearch = withSearch && isLarge;
  return (
    <div className={css.tree}>
      {(hasSearch || tableAt !== null) && (
        <div className={css.bar}>
          {hasSearch && (
            <Search value={value} chosen={chosen} text={sought} onText={setSought} onFound={go} />
          )}
          {tableAt !== null && <SmallButton onClick={() => onShow(tableAt)}>Table</SmallButton>}
        </div>
      )}
      <div
        ref={scroller}
        className={css.scroller}
        style={{ height }}
        role="tree"
        aria-label={label}
        aria-activedescendant={isDrawn ? `${id}-${at}` : undefined}
        aria-keyshortcuts="c p * Enter"
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
                needle={needle}
                actions={actions}
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
