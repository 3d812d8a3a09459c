// The table of Traffic: heads, and rows of fixed height of which only those in view are drawn. It
// follows the newest row until the user scrolls up or sorts.
import { type CSSProperties, type ReactNode, useId, useMemo } from "react";
import type { EventView } from "../../api/types";
import lined from "../../components/EventRows.module.css";
import { FollowButton } from "../../components/FollowButton";
import { useNow } from "../../components/useNow";
import { useRowWindow, useScrollToChosen } from "../../components/useRowWindow";
import { useStablePosition } from "../../components/useStablePosition";
import { useWidth } from "../../components/useWidth";
import { useRowHeights } from "../../state/density";
import { indexOfRow } from "../../values/seqIndex";
import { fittingColumns, gridTracks, visibleColumns } from "./columnLayout";
import { isPendingRow, type RowContext } from "./rowFacts";
import type { Sort } from "./sortedRows";
import { TableHead } from "./TableHead";
import { TableRow } from "./TableRow";
import css from "./TrafficTable.module.css";
import type { TrafficTree } from "./trafficTree";
import type { ColumnChoices } from "./useColumnChoice";
import { type Selection, useTableKeys } from "./useTableKeys";
import { monoAt, spanOf, waterfallOf } from "./waterfall";

interface Props {
  rows: EventView[];
  version: number;
  context: RowContext;
  tree: TrafficTree | null;
  toggle(event: EventView): void;
  choices: ColumnChoices;
  sort: Sort | null;
  onSort(column: string): void;
  selection: Selection;
  /** More rows can come. */
  isLive: boolean;
  /** Shown if there are no rows. */
  none: ReactNode;
}

// The mark at the left edge of a chosen row.
const EDGE_PX = 2;

function useShownColumns({ all, choice }: ColumnChoices, width: number) {
  return useMemo(() => {
    const columns = fittingColumns(visibleColumns(all, choice), choice, width);
    const style = { "--columns": gridTracks(columns, choice) } as CSSProperties;
    return { columns, style };
  }, [all, choice, width]);
}

export function TrafficTable(props: Props) {
  const { rows, context, tree, toggle, choices, sort, onSort, selection, isLive, none } = props;
  const id = useId();
  const { row: rowPx } = useRowHeights();
  const isOrdered = tree === null && sort === null;
  const window = useRowWindow(rows.length, rowPx, sort === null, rowPx);
  const { columns, style } = useShownColumns(choices, useWidth(window.scroller) - EDGE_PX);
  useStablePosition(rows, window, isOrdered);
  const { chosen, marked } = selection;
  const at = chosen === null ? -1 : indexOfRow(rows, chosen, isOrdered);
  useScrollToChosen(window, chosen, at);
  const keys = useTableKeys(rows, at, selection, tree, toggle);
  const visible = rows.slice(window.first, window.last);
  const hasBars = columns.some((column) => column.id === "waterfall");
  const isWaiting = isLive && hasBars && visible.some((event) => isPendingRow(event, context));
  const now = useNow(isWaiting);
  const end = monoAt(context.ring, isLive ? now : 0);
  const fall = hasBars ? waterfallOf(visible, (event) => spanOf(event, context, end)) : null;
  const isDrawn = at >= window.first && at < window.last;
  return (
    <div className={`${lined.place} ${css.place}`} style={style}>
      <div
        ref={window.scroller}
        className={`${lined.scroller} ${css.scroller}`}
        onScroll={window.onScroll}
        onKeyDown={keys.onKeyDown}
        role="grid"
        aria-label="Traffic"
        aria-multiselectable="true"
        aria-rowcount={rows.length + 1}
        aria-activedescendant={isDrawn ? `${id}${chosen}` : undefined}
        tabIndex={0}
        {...(tree && { role: "treegrid" })}
      >
        <TableHead
          columns={columns}
          choices={choices}
          sort={sort}
          onSort={onSort}
          ticks={fall?.ticks ?? []}
          breaks={fall?.breaks ?? []}
        />
        <div style={{ height: window.height }} className={lined.space} role="presentation">
          <div style={{ transform: `translateY(${window.first * rowPx}px)` }} role="presentation">
            {visible.map((event, index) => (
              <TableRow
                key={event.seq}
                id={`${id}${event.seq}`}
                index={window.first + index}
                event={event}
                context={context}
                columns={columns}
                tree={tree}
                toggle={toggle}
                bar={fall?.bars.get(event.seq) ?? null}
                isSelected={event.seq === chosen || marked.has(event.seq)}
                onPick={keys.onPick}
              />
            ))}
          </div>
        </div>
      </div>
      {rows.length === 0 && <div className={css.none}>{none}</div>}
      {isLive && sort === null && rows.length > 0 && <FollowButton window={window} />}
    </div>
  );
}
