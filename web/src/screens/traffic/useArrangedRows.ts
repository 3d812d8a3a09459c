// The filtered events as rows of the table: arranged, folded and sorted.
import { useCallback, useMemo, useState } from "react";
import type { EventView } from "../../api/types";
import { useDraft, usePreference } from "../../state/browserStorage";
import { useRing } from "../../state/events";
import { arrangementOf, treeRules } from "./arrangement";
import { columnsFor } from "./columns";
import { eventsOf, type RowContext } from "./rowFacts";
import { nextSort, type Sort, sortedRows, usePaced } from "./sortedRows";
import { TrafficTree } from "./trafficTree";
import { useColumnChoice } from "./useColumnChoice";
import type { TrafficRows } from "./useTrafficRows";

/** Rows that were folded or unfolded by hand. */
function useFolding(startsClosed: (event: EventView) => boolean) {
  const [changed, setChanged] = useState<ReadonlySet<number>>(new Set());
  const [allClosed, setAllClosed] = useState<boolean | null>(null);
  const toggle = useCallback(
    ({ seq }: EventView): void =>
      setChanged((old) => {
        const next = new Set(old);
        if (!next.delete(seq)) next.add(seq);
        return next;
      }),
    [],
  );
  const fold = useCallback((isClosed: boolean): void => {
    setAllClosed(isClosed);
    setChanged(new Set());
  }, []);
  const isClosed = useCallback(
    (event: EventView): boolean => (allClosed ?? startsClosed(event)) !== changed.has(event.seq),
    [allClosed, changed, startsClosed],
  );
  return { toggle, fold, isClosed };
}

/** Whether the events are shown one by one, in the order of the wire. */
export const useWireOrder = (): [boolean, (isWire: boolean) => void] =>
  usePreference("traffic.wire", false);

export function useArrangedRows(shown: TrafficRows) {
  const ring = useRing();
  const arrangement = arrangementOf(shown.layer, shown.isWire);
  const context = useMemo<RowContext>(() => ({ ring, arrangement }), [ring, arrangement]);
  const { ours } = shown.filter;
  const rules = useMemo(() => treeRules(ring, arrangement, ours), [ring, arrangement, ours]);
  const { toggle, fold, isClosed } = useFolding(rules.startsClosed);
  const whole = useMemo(
    () => new TrafficTree(rules.parentOf, isClosed, rules.isMerged),
    [rules, isClosed],
  );
  const tree = arrangement === "wire" ? null : whole.refresh(shown.rows);
  const { links } = ring;
  const withClient =
    shown.serverId === null ? links.hasClients : links.serversOfClients.has(shown.serverId);
  const all = useMemo(
    () => columnsFor(arrangement, shown.serverId === null, withClient),
    [arrangement, shown.serverId, withClient],
  );
  const choices = useColumnChoice(arrangement, all);
  const [sort, setSort] = useDraft<Sort | null>(`traffic.sort.${arrangement}`, null);
  const by = sort ? all.find((column) => column.id === sort.column) : undefined;
  const source = tree?.rows ?? shown.rows;
  const reason = by ? sort : null;
  const rows = usePaced(source, shown.version, reason, () => {
    if (!by || !sort) return source;
    const keyOf = (event: EventView) => by.sortBy(event, context);
    return sortedRows(source, tree?.levelOf ?? (() => 0), keyOf, sort.isDown);
  });
  const onSort = useCallback((column: string) => setSort(nextSort(sort, column)), [sort, setSort]);
  /** All events that some rows stand for, in order. */
  const eventsIn = useCallback(
    (some: EventView[]): EventView[] => {
      const repeats = (row: EventView): EventView[] =>
        row.status === "notification" ? (tree?.children.get(row.seq) ?? []) : [];
      const all = some.flatMap((row) => [...eventsOf(row, context), ...repeats(row)]);
      const found = new Map(all.map((event) => [event.seq, event]));
      return [...found.values()].sort((one, other) => one.seq - other.seq);
    },
    [context, tree],
  );
  /** The row that shows an event. */
  const rowOf = useCallback(
    (event: EventView): EventView =>
      arrangement !== "wire" && rules.isMerged(event) ? (rules.parentOf(event) ?? event) : event,
    [arrangement, rules],
  );
  const isSorted = by !== undefined;
  return {
    context,
    tree,
    rows: isSorted ? rows : source,
    toggle,
    fold,
    choices,
    sort: isSorted ? sort : null,
    onSort,
    eventsIn,
    rowOf,
  };
}

export type ArrangedRows = ReturnType<typeof useArrangedRows>;
