// The rows, as a list or as a tree with a column of durations.
import { type ReactNode, useCallback, useMemo } from "react";
import type { EventView } from "../../api/types";
import { EventList } from "../../components/EventList";
import { useRing } from "../../state/events";
import css from "./Traffic.module.css";
import { TrafficRow, toneOf } from "./TrafficRow";
import type { TrafficTree } from "./trafficTree";
import { useWaterfall } from "./waterfall";

interface Props {
  rows: EventView[];
  version: number;
  tree: TrafficTree | null;
  toggle(event: EventView): void;
  chosen: number | null;
  onChoose(event: EventView): void;
  withServer: boolean;
  /** Shown if there are no rows. */
  none: ReactNode;
}

export function TrafficList(props: Props) {
  const { rows, version, tree, toggle, chosen, onChoose, withServer, none } = props;
  const ring = useRing();
  const axis = useWaterfall(ring, tree);
  const render = useCallback(
    (event: EventView, visible: EventView[]) => (
      <TrafficRow
        event={event}
        withServer={withServer}
        bar={axis(event, visible)}
        nesting={
          tree ? { level: tree.levelOf(event), isOpen: tree.isOpen(event), toggle } : undefined
        }
      />
    ),
    [axis, tree, toggle, withServer],
  );
  // Drawn again when something of it changed: not for each key in a field beside it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows grow in place, which the version and their number tell
  const list = useMemo(
    () => (
      <EventList
        label="Traffic"
        rows={rows}
        chosen={chosen}
        onChoose={onChoose}
        tone={toneOf}
        outline={tree ? { levelOf: tree.levelOf, isOpen: tree.isOpen, toggle } : undefined}
        render={render}
      />
    ),
    [rows, rows.length, version, chosen, onChoose, tree, toggle, render],
  );
  return <div className={`pane ${css.rows}`}>{rows.length > 0 ? list : none}</div>;
}
