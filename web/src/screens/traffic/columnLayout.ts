// Which columns a table shows, in which order and how wide: by the person's choice and the room.

/** What a layout needs to know about a column. */
export interface ColumnShape {
  id: string;
  /** Pixels; of a column that grows, what it is given before it grows. */
  width: number;
  min: number;
  /** Takes a share of the room that is left. */
  grows?: number;
  /** Where there is no room, the column with the least weight goes first. */
  weight: number;
  isDefault: boolean;
}

/** What a person chose for one table; what is not named is as it comes. */
export interface ColumnChoice {
  order?: string[];
  visible?: Record<string, boolean>;
  widths?: Record<string, number>;
}

const MOST_PX = 1_200;

/** All columns in the chosen order; those that the choice does not know keep their place. */
export function orderedColumns<T extends ColumnShape>(all: T[], { order = [] }: ColumnChoice): T[] {
  const chosen = order.flatMap((id) => all.find((one) => one.id === id) ?? []);
  const result = [...chosen];
  all.forEach((column, at) => {
    if (result.includes(column)) return;
    const before = all.slice(0, at).findLast((one) => result.includes(one));
    result.splice(before ? result.indexOf(before) + 1 : 0, 0, column);
  });
  return result;
}

export const isVisible = ({ id, isDefault }: ColumnShape, { visible }: ColumnChoice): boolean =>
  visible?.[id] ?? isDefault;

/** The chosen columns, in order. */
export const visibleColumns = <T extends ColumnShape>(all: T[], choice: ColumnChoice): T[] =>
  orderedColumns(all, choice).filter((column) => isVisible(column, choice));

export const widthOf = ({ id, width, min }: ColumnShape, { widths }: ColumnChoice): number =>
  Math.min(MOST_PX, Math.max(min, widths?.[id] ?? width));

/** Least width in which a column may be drawn: what a person chose, or where it stops shrinking. */
const leastOf = (column: ColumnShape, choice: ColumnChoice): number =>
  column.grows && choice.widths?.[column.id] === undefined ? column.min : widthOf(column, choice);

/** The columns that fit into so many pixels; the least important ones go first. */
export function fittingColumns<T extends ColumnShape>(
  columns: T[],
  choice: ColumnChoice,
  room: number,
): T[] {
  let kept = columns;
  const total = () => kept.reduce((sum, column) => sum + leastOf(column, choice), 0);
  while (kept.length > 1 && total() > room) {
    const least = kept.reduce((one, other) => (other.weight < one.weight ? other : one));
    kept = kept.filter((column) => column !== least);
  }
  return kept;
}

/** The tracks of a CSS grid; something always takes the room that is left. */
export function gridTracks(columns: ColumnShape[], choice: ColumnChoice): string {
  const grows = (column: ColumnShape): boolean =>
    column.grows !== undefined && choice.widths?.[column.id] === undefined;
  const isFilled = columns.some(grows);
  return columns
    .map((column, at) => {
      if (grows(column)) return `minmax(${column.min}px, ${column.grows}fr)`;
      const px = widthOf(column, choice);
      return !isFilled && at === columns.length - 1 ? `minmax(${px}px, 1fr)` : `${px}px`;
    })
    .join(" ");
}

/** The choice with a column moved by so many places among those that are visible. */
export function moved<T extends ColumnShape>(
  all: T[],
  choice: ColumnChoice,
  id: string,
  by: number,
): ColumnChoice {
  const seen = visibleColumns(all, choice).map((column) => column.id);
  const at = seen.indexOf(id);
  const neighbour = seen[at + by];
  return at < 0 || neighbour === undefined ? choice : placed(all, choice, id, neighbour, by > 0);
}

/** The choice with a column put before or after another one. */
export function placed<T extends ColumnShape>(
  all: T[],
  choice: ColumnChoice,
  id: string,
  beside: string,
  isAfter: boolean,
): ColumnChoice {
  if (id === beside) return choice;
  const order = orderedColumns(all, choice)
    .map((column) => column.id)
    .filter((one) => one !== id);
  order.splice(order.indexOf(beside) + Number(isAfter), 0, id);
  return { ...choice, order };
}
