// Every message and HTTP exchange in order, both ways, as a list or as a tree of requests.
import { Button } from "@mantine/core";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { RowList } from "../../parts/RowList";
import { Split } from "../../parts/Split";
import { RingProvider } from "../../state/events";
import { useFiltered } from "../../state/filtered";
import { type Recorded, useRecorded } from "../../state/recorded";
import { useDraft, usePreference } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import { describe } from "./describe";
import { EventDetail } from "./EventDetail";
import { EVERYTHING, type TrafficFilter, wantedBy } from "./filter";
import { useFound } from "./found";
import { useLoadedPins, usePins } from "./pins";
import css from "./Traffic.module.css";
import { TrafficBar } from "./TrafficBar";
import { TrafficRow, toneOf } from "./TrafficRow";
import { Tree } from "./tree";
import { useAxis } from "./useAxis";

/** The traffic of now, or of the run that the address names. */
export function Traffic() {
  const [query] = useSearchParams();
  const recorded = useRecorded(query.get("run"));
  useLoadedPins();
  return (
    <RingProvider value={recorded.ring}>
      <Rows recorded={recorded} />
    </RingProvider>
  );
}

/** An event by its number: from the rows, or kept by a pin. */
function useEvent({ ring }: Recorded, runId: string | null, seq: number | null) {
  const pins = usePins((state) => state.list);
  if (seq === null) return undefined;
  const isIt = ({ event }: { event: EventView }) => event.seq === seq && event.run_id === runId;
  return ring.find(seq) ?? pins.find(isIt)?.event;
}

const numberIn = (text: string | null | undefined): number | null => (text ? Number(text) : null);

function Rows({ recorded }: { recorded: Recorded }) {
  const { server, item } = useParams();
  const navigate = useNavigate();
  const { ring } = recorded;
  const [filter, setFilter] = useDraft<TrafficFilter>("traffic.filter", EVERYTHING);
  const [isAll, setAll] = usePreference("traffic.all", false);
  const [isTree, setTree] = usePreference("traffic.tree", false);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const [query, setQuery] = useSearchParams();
  const current = useInspector((state) => state.run_id);
  const runId = query.get("run") ?? current;
  const serverId = isAll || query.has("run") || server === undefined ? null : server;
  const calm = useDeferredValue(filter);
  const requestId = query.get("id");
  const search = query.size ? `?${query}` : "";
  const { found, isSearching } = useFound(filter.text, runId, ring);
  const wanted = useMemo(
    () => wantedBy({ ...calm, request_id: requestId }, serverId, found),
    [calm, serverId, requestId, found],
  );
  const flat = useFiltered(wanted).rows;
  const whole = useMemo(() => new Tree(ring.parentOf, closed), [ring, closed]);
  const tree = isTree ? whole.refresh(flat) : null;
  const rows = tree?.rows ?? flat;
  const axis = useAxis(ring, tree);
  const seq = numberIn(item);
  const chosen = useEvent(recorded, runId, seq);
  const base = useEvent(recorded, runId, numberIn(query.get("compare")));
  const choose = useCallback(
    (event: EventView) => {
      const path = server ? pathTo(server, "traffic", event.seq) : `/traffic/${event.seq}`;
      void navigate(path + search, { replace: true });
    },
    [navigate, server, search],
  );
  const close = (): void =>
    void navigate((server ? pathTo(server, "traffic") : "/traffic") + search, { replace: true });
  const change = (name: string, value: string | null): void =>
    setQuery(
      (old) => {
        if (value === null) old.delete(name);
        else old.set(name, value);
        return old;
      },
      { replace: true },
    );
  const toggle = (event: EventView): void => {
    const next = new Set(closed);
    if (!next.delete(event.seq)) next.add(event.seq);
    setClosed(next);
  };
  const list = (
    <div className={`pane ${css.rows}`}>
      {rows.length === 0 ? (
        <Empty
          icon="traffic"
          title={ring.items.length ? "No row fits this filter" : "No traffic yet"}
        >
          {ring.items.length
            ? "Change the filter, or show all servers."
            : "Connect a server: every message it sends or gets is listed here as it happens."}
        </Empty>
      ) : (
        <RowList
          label="Traffic"
          rows={rows}
          chosen={seq}
          onChoose={choose}
          tone={toneOf}
          outline={tree ? { levelOf: tree.levelOf, isOpen: tree.isOpen, toggle } : undefined}
          draw={(event, visible) => (
            <TrafficRow
              event={event}
              withServer={serverId === null}
              bar={axis(event, visible)}
              nesting={
                tree
                  ? {
                      level: tree.levelOf(event),
                      isOpen: tree.isOpen(event),
                      toggle: () => toggle(event),
                    }
                  : undefined
              }
            />
          )}
        />
      )}
    </div>
  );
  return (
    <div className="pane">
      <h1 className="sr">Traffic</h1>
      {/* A narrow screen shows the details in place of the rows. */}
      <div className={chosen && "wide-only"}>
        <TrafficBar
          filter={filter}
          onFilter={setFilter}
          isAll={serverId === null}
          onAll={setAll}
          isTree={isTree}
          onTree={setTree}
          onFold={(isClosed) => setClosed(new Set(isClosed ? tree?.children.keys() : []))}
          count={rows.length}
          isSearching={isSearching}
        />
      </div>
      {recorded.isLoading && <div className="toolbar dim">Reading the recording…</div>}
      {recorded.problem && <div className="toolbar">{recorded.problem}</div>}
      {requestId && (
        <div className="toolbar">
          <span>Only what has the id {requestId}</span>
          <Button variant="default" size="compact-xs" onClick={() => change("id", null)}>
            Show all
          </Button>
        </div>
      )}
      {base && (
        <div className="toolbar">
          <span className="cut">
            Comparing with {describe(base)} {base.request_id}
            {(!chosen || chosen.seq === base.seq) && ": choose another row"}
          </span>
          <Button variant="default" size="compact-xs" onClick={() => change("compare", null)}>
            Stop comparing
          </Button>
        </div>
      )}
      {chosen ? (
        <Split
          name="traffic"
          label="Size of the details"
          sized="second"
          initial={520}
          first={list}
          second={
            <EventDetail
              event={chosen}
              base={base && base.seq !== chosen.seq ? base : undefined}
              onCompare={() => change("compare", String(chosen.seq))}
              onClose={close}
            />
          }
          narrow="second"
        />
      ) : (
        list
      )}
    </div>
  );
}
