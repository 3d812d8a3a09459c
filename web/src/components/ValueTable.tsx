// A table of values, sorted by a click on a head. Only visible rows are in the document.
import { useMemo, useState } from "react";
import { useRowHeights } from "../state/density";
import { ExactNumber } from "../values/exactJson";
import { pluralize, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { previewOf } from "../values/jsonPreview";
import { isContainer } from "../values/jsonRows";
import { type Order, sortedRows, type Table } from "../values/tables";
import { Icon } from "./Icon";
import { useRowWindow } from "./useRowWindow";
import css from "./ValueTable.module.css";

// Longer cells are cut; the tree and the source have all of them.
const LONGEST = 200;
// Widths go by these rows, in characters.
const MEASURED = 100;
const NARROWEST = 6;
const WIDEST = 40;
// Room for the arrow of a sorted column.
const HEAD_EXTRA = 3;

function shown(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return visible(truncate(value, LONGEST));
  return isContainer(value) ? previewOf(value) : String(value);
}

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || value instanceof ExactNumber;

function widthsOf({ columns, rows, cell }: Table): number[] {
  const sample = rows.slice(0, MEASURED);
  return columns.map((name, column) => {
    const longest = sample.reduce(
      (most: number, row) => Math.max(most, shown(cell(row, column)).length),
      name.length + HEAD_EXTRA,
    );
    return Math.min(WIDEST, Math.max(NARROWEST, longest)) + 2;
  });
}

/** Whether the head of a column stands above numbers. */
const hasNumbers = ({ rows, cell }: Table, column: number): boolean => {
  const values = rows.slice(0, MEASURED).map((row) => cell(row, column));
  return values.some(isNumber) && values.every((one) => one == null || isNumber(one));
};

/** The order after a click on a head: up, down, as it came. */
const nextOrder = (order: Order | null, column: number): Order | null =>
  order?.column !== column
    ? { column, isDown: false }
    : order.isDown
      ? null
      : { column, isDown: true };

interface HeadProps {
  table: Table;
  order: Order | null;
  onOrder(order: Order | null): void;
}

function Head({ table, order, onOrder }: HeadProps) {
  return (
    <thead>
      <tr>
        <th scope="col" className={css.index}>
          #
        </th>
        {table.columns.map((name, column) => {
          const isSorted = order?.column === column;
          const sort = isSorted ? (order.isDown ? "descending" : "ascending") : undefined;
          return (
            <th
              key={column}
              scope="col"
              aria-sort={sort}
              data-kind={hasNumbers(table, column) ? "number" : undefined}
            >
              <button
                type="button"
                className={`plain ${css.head}`}
                title={`Sort by ${visible(name)}`}
                onClick={() => onOrder(nextOrder(order, column))}
              >
                <span className="cut">{visible(name)}</span>
                {isSorted && <Icon name={order.isDown ? "down" : "up"} size={12} />}
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface Props {
  table: Table;
  label: string;
  most?: number;
}

export function ValueTable({ table, label, most }: Props) {
  const { row: rowPx } = useRowHeights();
  const [order, setOrder] = useState<Order | null>(null);
  const indexes = useMemo(() => sortedRows(table, order), [table, order]);
  const widths = useMemo(() => widthsOf(table), [table]);
  const window = useRowWindow(indexes.length, rowPx, false);
  const height = most === undefined ? undefined : Math.min(most, (indexes.length + 1) * rowPx + 16);
  const drawn = indexes.slice(window.first, window.last);
  return (
    <div className={css.table}>
      <div
        ref={window.scroller}
        className={css.scroller}
        style={{ height }}
        onScroll={window.onScroll}
        role="region"
        aria-label={label}
        tabIndex={0}
      >
        <table aria-rowcount={indexes.length + 1}>
          <colgroup>
            <col style={{ width: `${String(indexes.length).length + 3}ch` }} />
            {widths.map((width, column) => (
              <col key={column} style={{ width: `${width}ch` }} />
            ))}
          </colgroup>
          <Head table={table} order={order} onOrder={setOrder} />
          <tbody>
            {window.first > 0 && (
              <tr>
                <td style={{ height: window.first * rowPx }} />
              </tr>
            )}
            {drawn.map((index) => (
              <tr key={index}>
                <td className={css.index}>{index}</td>
                {table.columns.map((_, column) => {
                  const value = table.cell(table.rows[index], column);
                  return (
                    <td
                      key={column}
                      data-kind={isNumber(value) ? "number" : typeof value}
                      title={typeof value === "string" ? shown(value) : undefined}
                    >
                      {shown(value)}
                    </td>
                  );
                })}
              </tr>
            ))}
            {window.last < indexes.length && (
              <tr>
                <td style={{ height: (indexes.length - window.last) * rowPx }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      <div className={css.foot}>{pluralize(indexes.length, "row")}</div>
    </div>
  );
}
