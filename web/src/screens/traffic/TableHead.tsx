// The heads of Traffic's table: a click sorts, the edge resizes, dragging or Alt with an arrow moves.
import { type DragEvent, type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { useWidth } from "../../components/useWidth";
import { formatDuration } from "../../values/format";
import { widthOf } from "./columnLayout";
import type { TrafficColumn } from "./columns";
import type { Sort } from "./sortedRows";
import css from "./TrafficTable.module.css";
import type { ColumnChoices } from "./useColumnChoice";
import { type AxisBreak, type AxisTick, fittingTicks } from "./waterfall";

const STEP_PX = 16;
const WIDEST_PX = 1_200;
const DRAGGED = "text/x-mcplens-column";

interface Props {
  columns: TrafficColumn[];
  choices: ColumnChoices;
  sort: Sort | null;
  onSort(column: string): void;
  /** Marks of the waterfall's axis. */
  ticks: AxisTick[];
  /** Where its idle time is shortened. */
  breaks: AxisBreak[];
}

interface HeadProps extends Omit<Props, "columns"> {
  column: TrafficColumn;
}

/** The edge of a head: drag it, or use the arrow keys; a double click takes the width back. */
function Resizer({ column, choices }: { column: TrafficColumn; choices: ColumnChoices }) {
  const start = useRef<{ x: number; width: number } | null>(null);
  const width = widthOf(column, choices.choice);
  const shown = (element: HTMLElement): number =>
    element.parentElement?.getBoundingClientRect().width ?? width;
  const onPointerDown = (event: PointerEvent<HTMLElement>): void => {
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { x: event.clientX, width: shown(event.currentTarget) };
  };
  const onPointerMove = (event: PointerEvent): void => {
    const from = start.current;
    if (from) choices.resize(column.id, Math.max(column.min, from.width + event.clientX - from.x));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const by = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    if (by === undefined && event.key !== "Home") return;
    event.preventDefault();
    event.stopPropagation();
    const now = shown(event.currentTarget);
    choices.resize(column.id, by === undefined ? null : Math.max(column.min, now + by));
  };
  return (
    <div
      className={css.resizer}
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${column.label === "#" ? "Id" : column.label}`}
      aria-valuenow={width}
      aria-valuemin={column.min}
      aria-valuemax={WIDEST_PX}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null;
      }}
      onDoubleClick={() => choices.resize(column.id, null)}
      onKeyDown={onKeyDown}
    />
  );
}

/** Ticks of the waterfall, and a hatched band where idle time is shortened. */
function Axis({ ticks, breaks }: { ticks: AxisTick[]; breaks: AxisBreak[] }) {
  const place = useRef<HTMLSpanElement>(null);
  const width = useWidth(place);
  return (
    <span className={css.axis} aria-hidden="true" ref={place}>
      {breaks.map(({ at, width: share, idle_s }) => (
        <span
          key={at}
          className={css.break}
          title={`${formatDuration(idle_s)} without requests, shortened`}
          style={{ left: `${at * 100}%`, width: `${share * 100}%` }}
        />
      ))}
      {fittingTicks(ticks, width).map(({ at, label }) => (
        <span key={at} className={css.tick} style={{ left: `${at * 100}%` }}>
          {label}
        </span>
      ))}
    </span>
  );
}

/** Takes a column that is dropped on a head. */
function useDrop(id: string, choices: ColumnChoices) {
  const [isOver, setOver] = useState(false);
  const onDragOver = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes(DRAGGED)) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent<HTMLElement>): void => {
    setOver(false);
    const dragged = event.dataTransfer.getData(DRAGGED);
    if (!dragged) return;
    event.preventDefault();
    const { left, width } = event.currentTarget.getBoundingClientRect();
    choices.place(dragged, id, event.clientX > left + width / 2);
  };
  return { isOver, on: { onDragOver, onDrop, onDragLeave: () => setOver(false) } };
}

function Head({ column, choices, sort, onSort, ticks, breaks }: HeadProps) {
  const { id, label, title, align } = column;
  const drop = useDrop(id, choices);
  const isSorted = sort?.column === id;
  const order = isSorted ? (sort.isDown ? "descending" : "ascending") : "none";
  const isAxis = id === "waterfall" && ticks.length > 0;
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || !event.altKey) return;
    event.preventDefault();
    choices.move(id, by);
  };
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    <div
      className={css.head}
      role="columnheader"
      aria-sort={order}
      data-column={id}
      data-align={align}
      data-over={drop.isOver}
      {...drop.on}
    >
      <button
        type="button"
        className={css.sorter}
        title={`${title ?? label}. Click to sort; drag, or Alt and an arrow key, to move`}
        aria-label={label === "#" ? "Id" : undefined}
        draggable
        onDragStart={(event) => event.dataTransfer.setData(DRAGGED, id)}
        onClick={() => onSort(id)}
        onKeyDown={onKeyDown}
      >
        <span className={isAxis ? "sr" : "cut"}>{label}</span>
        {isAxis && <Axis ticks={ticks} breaks={breaks} />}
        {isSorted && <span aria-hidden="true">{sort.isDown ? "↓" : "↑"}</span>}
      </button>
      <Resizer column={column} choices={choices} />
    </div>
  );
}

export function TableHead({ columns, ...rest }: Props) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons have the focus
    <div className={css.heads} role="row">
      {columns.map((column) => (
        <Head key={column.id} column={column} {...rest} />
      ))}
    </div>
  );
}
