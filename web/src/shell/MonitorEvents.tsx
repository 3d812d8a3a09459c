// Events in the monitor: arrow keys move among them, a click or Enter opens one on its screen.
import { type MouseEvent, type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import type { EventView } from "../api/types";
import { EventList } from "../components/EventList";
import { MissingEvents } from "../events/MissingEvents";
import { LogRow } from "../screens/logs/LogRow";
import { isLog } from "../screens/logs/logLines";
import { useLogRows, useLogStream } from "../screens/logs/useLogLines";
import { MonitorRow, toneOf } from "../screens/traffic/MonitorRow";
import { NO_FILTER, trafficMatcher } from "../screens/traffic/trafficFilter";
import { useBackfill } from "../state/backfill";
import { useRing } from "../state/events";
import { useFilteredEvents } from "../state/filteredEvents";
import { pathTo } from "../state/navigation";
import { useInspector } from "../state/store";
import css from "./Monitor.module.css";

interface Props {
  label: string;
  rows: EventView[];
  none: string;
  pathOf(event: EventView): string;
  render(event: EventView): ReactNode;
  tone?(event: EventView): string | undefined;
}

function MonitorRows({ label, rows, none, pathOf, render, tone }: Props) {
  const navigate = useNavigate();
  const runId = useInspector((state) => state.run_id);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = useRef<EventView | null>(null);
  const choose = useCallback((event: EventView): void => {
    last.current = event;
    setChosen(event.seq);
  }, []);
  const open = (): void => {
    if (last.current) void navigate(pathOf(last.current));
  };
  const onClick = (event: MouseEvent): void => {
    if (event.target instanceof Element && event.target.closest('[role="option"]')) open();
  };
  const backfill = useBackfill(runId, true);
  const missing = <MissingEvents runId={runId} backfill={backfill} />;
  if (!rows.length)
    return (
      <>
        {missing}
        {!backfill.isLoading && <p className={`dim ${css.none}`}>{none}</p>}
      </>
    );
  return (
    <>
      {missing}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the list within is what has the focus */}
      <div
        className={css.rows}
        onClick={onClick}
        onKeyDown={(event) =>
          event.key === "Enter" && event.target instanceof HTMLDivElement && open()
        }
      >
        <EventList
          label={label}
          rows={rows}
          chosen={chosen}
          onChoose={choose}
          render={render}
          tone={tone}
        />
      </div>
    </>
  );
}

const drawTraffic = (event: EventView) => <MonitorRow event={event} />;
const drawLog = (event: EventView) => <LogRow event={event} withServer={false} />;

export function MonitorTraffic({ serverId }: { serverId: string | null }) {
  const { links } = useRing();
  // As on the screen: pings and lists that mcplens fetches on its own would bury the calls.
  const wanted = useMemo(
    () => trafficMatcher(NO_FILTER, serverId, { purposeOf: (event) => links.purposeOf(event) }),
    [serverId, links],
  );
  return (
    <MonitorRows
      label="Traffic in the monitor"
      rows={useFilteredEvents(wanted).rows}
      none="No traffic yet."
      pathOf={(event) => pathTo(event.server_id, "traffic", event.seq)}
      render={drawTraffic}
      tone={toneOf}
    />
  );
}

export function MonitorLogs({ serverId }: { serverId: string | null }) {
  const wanted = useCallback(
    (event: EventView) => isLog(event) && (serverId === null || event.server_id === serverId),
    [serverId],
  );
  return (
    <MonitorRows
      label="Logs in the monitor"
      rows={useLogRows(useLogStream(wanted))}
      none="No log lines yet."
      pathOf={(event) => `${pathTo(event.server_id, "logs")}?line=${event.seq}`}
      render={drawLog}
    />
  );
}
