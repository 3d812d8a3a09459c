// One row of Traffic's table; drawn again only when something that it says changed.
import { type MouseEvent, memo } from "react";
import type { EventView } from "../../api/types";
import lined from "../../components/EventRows.module.css";
import { formatDuration } from "../../values/format";
import type { DrawnRow } from "./cells";
import type { TrafficColumn } from "./columns";
import { directionOf } from "./eventLabel";
import {
  calledOf,
  elapsedOf,
  endOf,
  isPendingRow,
  nameOf,
  previewOfRow,
  type RowContext,
  serverOf,
  sizeOf,
  statusOf,
  toneOfRow,
} from "./rowFacts";
import css from "./TrafficTable.module.css";
import { rootOf, type TrafficTree } from "./trafficTree";
import type { WaterfallBar } from "./waterfall";

interface Props {
  id: string;
  /** Place among all rows. */
  index: number;
  event: EventView;
  context: RowContext;
  columns: TrafficColumn[];
  tree: TrafficTree | null;
  toggle(event: EventView): void;
  bar: WaterfallBar | null;
  isSelected: boolean;
  onPick(event: EventView, click: MouseEvent): void;
}

/** Time since the root of an event's tree; null for the root. */
function sinceRoot(event: EventView, tree: TrafficTree | null): string | null {
  if (!tree?.levelOf(event)) return null;
  const seconds = event.mono - rootOf(event, tree.parentOf).mono;
  return seconds < 0.001 ? "+0 ms" : `+${formatDuration(seconds)}`;
}

function drawnRow({ event, context, tree, toggle, bar }: Props): DrawnRow {
  return {
    event,
    end: endOf(event, context),
    context,
    direction: directionOf(event),
    name: nameOf(event, context),
    called: calledOf(event, context),
    client: context.ring.links.clientOf(event),
    server: serverOf(event, context),
    status: statusOf(event, context),
    size_bytes: sizeOf(event, context),
    elapsed_s: elapsedOf(event, context),
    isPending: isPendingRow(event, context),
    since: sinceRoot(event, tree),
    preview: previewOfRow(event, context),
    bar,
    level: tree?.levelOf(event) ?? 0,
    isOpen: tree?.isOpen(event),
    times: event.status === "notification" ? 1 + (tree?.children.get(event.seq)?.length ?? 0) : 1,
    toggle,
  };
}

/** Whether there is nothing beside the name, which may then be as long as it is. */
const isBare = ({ status, size_bytes, elapsed_s, isPending, preview, bar }: DrawnRow): boolean =>
  !status.text && size_bytes === 0 && elapsed_s === null && !isPending && !preview && bar === null;

type CellProps = Omit<Props, "bar" | "toggle" | "tree"> & {
  row: DrawnRow;
  tone: string | undefined;
  isTree: boolean;
};

const isSameBar = (one: WaterfallBar | null, other: WaterfallBar | null): boolean =>
  one === other ||
  (one?.left === other?.left &&
    one?.width === other?.width &&
    one?.duration_s === other?.duration_s);

/** Statuses and bars are made anew for each drawing: they are compared by what they say. */
function isSameRow(one: DrawnRow, other: DrawnRow): boolean {
  const names = Object.keys(one) as (keyof DrawnRow)[];
  return (
    one.status.text === other.status.text &&
    one.status.tone === other.status.tone &&
    isSameBar(one.bar, other.bar) &&
    names.every((name) => name === "status" || name === "bar" || one[name] === other[name])
  );
}

const isSame = (one: CellProps, other: CellProps): boolean =>
  one.columns === other.columns &&
  one.isSelected === other.isSelected &&
  one.index === other.index &&
  one.tone === other.tone &&
  one.isTree === other.isTree &&
  one.onPick === other.onPick &&
  isSameRow(one.row, other.row);

export function TableRow(props: Props) {
  const { tree, bar, toggle, ...rest } = props;
  return (
    <Cells
      {...rest}
      row={drawnRow(props)}
      tone={toneOfRow(props.event, props.context)}
      isTree={tree !== null}
    />
  );
}

const Cells = memo(function Cells(props: CellProps) {
  const { id, index, columns, row, tone, isTree, isSelected, onPick } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the table itself handles the keys
    <div
      id={id}
      role="row"
      tabIndex={-1}
      className={`${lined.row} ${css.row}`}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-level={isTree ? row.level + 1 : undefined}
      aria-expanded={row.isOpen}
      data-tone={tone}
      data-bare={isBare(row) || undefined}
      onClick={(click) => onPick(row.event, click)}
      onMouseDown={(press) => {
        // A range of rows is chosen, not of text.
        if (press.shiftKey) press.preventDefault();
      }}
    >
      {columns.map((column) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the table has the focus, and says which row is active
        <div
          key={column.id}
          role="gridcell"
          className={css.cell}
          data-column={column.id}
          data-align={column.align}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}, isSame);
