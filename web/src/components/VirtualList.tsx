// A list of thousands of items: only visible rows are in the document. Arrow keys move through it.
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
} from "react";
import { useRowHeights } from "../state/density";
import css from "./VirtualList.module.css";

interface Props<T> {
  label: string;
  items: T[];
  keyOf(item: T): string;
  chosen: string | null;
  /** `isStep`: by an arrow key, so that more may follow. */
  onChoose(item: T, isStep: boolean): void;
  render(item: T): ReactNode;
  /** In pixels; a row of two lines unless given. */
  rowHeight?: number;
  /** Id of the list; rows have this id with `-` and an index. For a combobox that controls it. */
  id?: string;
  /** The name of the order of the items: another one is read from its top. */
  order?: string;
}

function List<T>(props: Props<T>) {
  const { label, items, keyOf, chosen, onChoose, render } = props;
  const { item: itemPx } = useRowHeights();
  const rowHeight = props.rowHeight ?? itemPx;
  const own = useId();
  const id = props.id ?? own;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: 300, height: 800 },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights are kept until they are dropped
  useLayoutEffect(() => virtual.measure(), [rowHeight]);
  const at = items.findIndex((item) => keyOf(item) === chosen);
  // Keys may be pressed faster than the selection is rendered: each continues from the last target.
  const place = useRef(at);
  const ahead = useRef<string[]>([]);
  useEffect(() => {
    const drawn = ahead.current.lastIndexOf(chosen ?? "");
    ahead.current = drawn < 0 ? [] : ahead.current.slice(drawn + 1);
    if (ahead.current.length === 0) place.current = at;
  }, [at, chosen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the choice moves or comes in, not when the list grows
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [chosen, at < 0]);

  const { order } = props;
  const former = useRef(order);
  useEffect(() => {
    if (former.current !== order) scroller.current?.scrollTo?.({ top: 0 });
    former.current = order;
  }, [order]);

  const choose = (index: number, isStep: boolean): void => {
    const item = items[index];
    if (item === undefined) return;
    place.current = index;
    ahead.current.push(keyOf(item));
    onChoose(item, isStep);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length,
    };
    if (event.key === "Enter") choose(place.current, false);
    const step = steps[event.key];
    if (step === undefined || items.length === 0) return;
    event.preventDefault();
    choose(Math.min(items.length - 1, Math.max(0, place.current + step)), true);
  };
  const rows = virtual.getVirtualItems();
  // aria-activedescendant may only name a rendered row.
  const isDrawn = rows.some((row) => row.index === at);
  return (
    <div
      ref={scroller}
      className={css.scroller}
      id={id}
      role="listbox"
      aria-label={label}
      aria-activedescendant={isDrawn ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className={css.space} style={{ height: virtual.getTotalSize() }}>
        {rows.map((row) => {
          const item = items[row.index];
          if (item === undefined) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself handles the keys
            <div
              key={row.key}
              id={`${id}-${row.index}`}
              role="option"
              tabIndex={-1}
              aria-selected={row.index === at}
              className={css.row}
              style={{ transform: `translateY(${row.start}px)`, height: rowHeight }}
              onClick={() => choose(row.index, false)}
            >
              {render(item)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

export const VirtualList = memo(List) as typeof List;
