// The chosen columns, widths and order of a table, kept in the browser.
import { useCallback, useMemo } from "react";
import { usePreference } from "../../state/browserStorage";
import { type ColumnChoice, isVisible, moved, placed } from "./columnLayout";
import type { TrafficColumn } from "./columns";
import type { Arrangement } from "./rowFacts";

export interface ColumnChoices {
  all: TrafficColumn[];
  choice: ColumnChoice;
  resize(id: string, width: number | null): void;
  toggle(column: TrafficColumn): void;
  move(id: string, by: number): void;
  place(id: string, beside: string, isAfter: boolean): void;
  reset(): void;
}

const NONE: ColumnChoice = {};

export function useColumnChoice(arrangement: Arrangement, all: TrafficColumn[]): ColumnChoices {
  const [choice, set] = usePreference<ColumnChoice>(`traffic.columns.${arrangement}`, NONE);
  const resize = useCallback(
    (id: string, width: number | null): void => {
      const { [id]: _, ...widths } = choice.widths ?? {};
      set({ ...choice, widths: width === null ? widths : { ...widths, [id]: Math.round(width) } });
    },
    [choice, set],
  );
  return useMemo(
    () => ({
      all,
      choice,
      resize,
      toggle: (column) =>
        set({
          ...choice,
          visible: { ...choice.visible, [column.id]: !isVisible(column, choice) },
        }),
      move: (id, by) => set(moved(all, choice, id, by)),
      place: (id, beside, isAfter) => set(placed(all, choice, id, beside, isAfter)),
      reset: () => set(NONE),
    }),
    [all, choice, set, resize],
  );
}
