// The Traffic screen: all messages and HTTP exchanges, as a list or as a tree of requests.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { focusList } from "../../components/EventList";
import { SplitPane } from "../../components/SplitPane";
import { useEscape } from "../../components/useEscape";
import { eventKey, useLoadedPins } from "../../events/pins";
import { useEvent } from "../../events/useEvent";
import { FailedServerBanner } from "../../servers/DisconnectedBanner";
import { useBackfill } from "../../state/backfill";
import { usePreference } from "../../state/browserStorage";
import { RingProvider } from "../../state/events";
import { withLink } from "../../state/linkFilter";
import { pathTo } from "../../state/navigation";
import { type RecordedRun, useRecordedRun } from "../../state/recordedRun";
import { ClearTrafficModal } from "./ClearTrafficModal";
import { EventDetail } from "./EventDetail";
import { NoRows } from "./NoRows";
import { TrafficList } from "./TrafficList";
import { TrafficNotices } from "./TrafficNotices";
import { TrafficToolbar } from "./TrafficToolbar";
import { TrafficTree } from "./trafficTree";
import { type TrafficRows, useTrafficRows } from "./useTrafficRows";

/** Live traffic, or that of the run that the address names. */
export function Traffic() {
  const [query] = useSearchParams();
  const recorded = useRecordedRun(query.get("run"));
  useLoadedPins();
  return (
    <RingProvider value={recorded.ring}>
      <TrafficScreen recorded={recorded} />
    </RingProvider>
  );
}

/** An event as the address names it: `run/seq`, or `seq` of the run that is shown. */
function parseEventId(text: string | null | undefined, runId: string | null) {
  if (!text) return { run_id: null, seq: null };
  const [seq, run] = text.split("/").reverse();
  return { run_id: run ?? runId, seq: Number(seq) };
}

type Go = (seq?: number, search?: string) => void;

/** The parts of the address, and how to change them. */
function useAddress() {
  const { server, item } = useParams();
  const navigate = useNavigate();
  const [query, setQuery] = useSearchParams();
  const search = query.size ? `?${query}` : "";
  const go = useCallback(
    (seq?: number, more = search) => {
      const alone = seq === undefined ? "/traffic" : `/traffic/${seq}`;
      void navigate((server ? pathTo(server, "traffic", seq) : alone) + more, { replace: true });
    },
    [navigate, server, search],
  );
  const change = (name: string, value: string | null): void =>
    setQuery(
      (old) => {
        if (value === null) old.delete(name);
        else old.set(name, value);
        return old;
      },
      { replace: true },
    );
  return { server, item, query, setQuery, go, change };
}

function useTree(ring: RecordedRun["ring"], flat: EventView[]) {
  const [isTree, setTree] = usePreference("traffic.tree", false);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const whole = useMemo(() => new TrafficTree(ring.links.parentOf, closed), [ring, closed]);
  const tree = isTree ? whole.refresh(flat) : null;
  const toggle = useCallback(
    ({ seq }: EventView): void =>
      setClosed((old) => {
        const next = new Set(old);
        if (!next.delete(seq)) next.add(seq);
        return next;
      }),
    [],
  );
  const fold = useCallback(
    (isClosed: boolean): void => setClosed(new Set(isClosed ? tree?.children.keys() : [])),
    [tree],
  );
  return { isTree, setTree, tree, toggle, fold };
}

/** Closes the details by Esc or button, and returns the focus to the rows. */
function useCloseDetails(isOpen: boolean, go: () => void) {
  const place = useRef<HTMLDivElement>(null);
  const isClosing = useRef(false);
  const close = (): void => {
    isClosing.current = true;
    go();
  };
  useEscape(isOpen, close);
  useEffect(() => {
    if (isOpen || !isClosing.current) return;
    isClosing.current = false;
    focusList(place.current);
  }, [isOpen]);
  const enter = useCallback(() => focusList(place.current), []);
  return { place, close, enter };
}

/** The event that the address names, and the one that it is compared with. */
function useSelectedEvents(
  ring: RecordedRun["ring"],
  runId: string | null,
  item?: string,
  compare?: string | null,
) {
  const sought = parseEventId(item, runId);
  const { event: chosen, problem } = useEvent(ring, sought);
  const { event: base, problem: noBase } = useEvent(ring, parseEventId(compare, runId));
  const isOnlyBase = base !== undefined && (!chosen || eventKey(base) === eventKey(chosen));
  return { seq: sought.seq, chosen, base, isOnlyBase, problem: problem ?? noBase };
}

/** The dialog that clears the view or deletes the recording. */
function useClearTraffic(
  ring: RecordedRun["ring"],
  { runId, setCleared }: TrafficRows,
  isLive: boolean,
  go: Go,
) {
  const [isAsking, setAsking] = useState(false);
  const ask = useCallback(() => setAsking(true), []);
  const hide = (): void => {
    setAsking(false);
    if (runId !== null && ring.lastSeq !== null) setCleared({ run_id: runId, seq: ring.lastSeq });
    go();
  };
  const question = isAsking && (
    <ClearTrafficModal
      runId={runId}
      isLive={isLive}
      onClose={() => setAsking(false)}
      onCleared={hide}
      onDeleted={() => (isLive ? hide() : go(undefined, ""))}
    />
  );
  return { ask, question };
}

function TrafficScreen({ recorded }: { recorded: RecordedRun }) {
  const { ring } = recorded;
  const { server, item, query, setQuery, go, change } = useAddress();
  const shown = useTrafficRows();
  const { runId, cleared, setCleared } = shown;
  const { isTree, setTree, tree, toggle, fold } = useTree(ring, shown.rows);
  const isLive = !query.has("run");
  const clearing = useClearTraffic(ring, shown, isLive, go);
  const backfill = useBackfill(runId, isLive);
  const { chosen, base, ...named } = useSelectedEvents(ring, runId, item, query.get("compare"));
  const choose = useCallback((event: EventView) => go(event.seq), [go]);
  const allLinks = (): void => setQuery((old) => withLink(old, null), { replace: true });
  const rows = tree?.rows ?? shown.rows;
  const filtered = useRef(shown.rows);
  filtered.current = shown.rows;
  const readShown = useCallback(() => filtered.current, []);
  const { place, close, enter } = useCloseDetails(chosen !== undefined, go);
  return (
    <div className="pane">
      <h1 className="sr">Traffic</h1>
      {/* A narrow screen shows the details in place of the rows. */}
      <div className={chosen && "wide-only"}>
        <TrafficToolbar
          filter={shown.filter}
          onFilter={shown.setFilter}
          server={server}
          serverId={shown.serverId}
          runId={runId}
          isTree={isTree}
          onTree={setTree}
          onFold={fold}
          onClear={clearing.ask}
          onDown={enter}
          shown={readShown}
          count={rows.length}
          isSearching={shown.isSearching}
        />
      </div>
      <TrafficNotices
        runId={runId}
        recorded={recorded}
        backfill={backfill}
        link={shown.link}
        onAllLinks={allLinks}
        base={base}
        isOnlyBase={named.isOnlyBase}
        onStopComparing={() => change("compare", null)}
        isCleared={cleared !== null}
        onShowAgain={() => setCleared(null)}
        problem={named.problem}
        run={query.get("run")}
        onRun={(run) => go(undefined, `?run=${run}`)}
      />
      {clearing.question}
      {isLive && shown.serverId !== null && <FailedServerBanner serverId={shown.serverId} />}
      <SplitPane
        name="traffic"
        label="Size of the details"
        sized="second"
        initial={520}
        narrow="second"
        first={
          <div className="pane" ref={place}>
            <TrafficList
              rows={rows}
              version={shown.version}
              tree={tree}
              toggle={toggle}
              chosen={named.seq}
              onChoose={choose}
              withServer={shown.serverId === null}
              none={<NoRows shown={shown} onAllLinks={allLinks} />}
            />
          </div>
        }
        second={
          chosen ? (
            <EventDetail
              event={chosen}
              base={named.isOnlyBase ? undefined : base}
              onCompare={() => change("compare", eventKey(chosen))}
              onGo={go}
              onClose={close}
            />
          ) : null
        }
      />
    </div>
  );
}
