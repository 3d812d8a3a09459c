// The Traffic screen: messages and HTTP exchanges in a table, the details of one beside it.
import { useCallback, useEffect, useRef, useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { focusList } from "../../components/EventList";
import { SplitPane } from "../../components/SplitPane";
import { useEscape } from "../../components/useEscape";
import { eventKey, useLoadedPins } from "../../events/pins";
import { useEvent } from "../../events/useEvent";
import { FailedServerBanner } from "../../servers/DisconnectedBanner";
import { useBackfill } from "../../state/backfill";
import { isReply } from "../../state/eventLinks";
import { RingProvider } from "../../state/events";
import { withLink } from "../../state/linkFilter";
import { pathTo } from "../../state/navigation";
import { type RecordedRun, useRecordedRun } from "../../state/recordedRun";
import { useInspector } from "../../state/store";
import { ClearTrafficModal } from "./ClearTrafficModal";
import { EventDetail } from "./EventDetail";
import { NoRows } from "./NoRows";
import { toneOfRow } from "./rowFacts";
import { TrafficFoot } from "./TrafficFoot";
import { TrafficNotices } from "./TrafficNotices";
import { TrafficTable } from "./TrafficTable";
import { TrafficToolbar } from "./TrafficToolbar";
import { NO_FILTER } from "./trafficFilter";
import { type ArrangedRows, useArrangedRows } from "./useArrangedRows";
import { NO_MARKS } from "./useTableKeys";
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

function withCompared(query: URLSearchParams, key: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set("compare", key);
  return next;
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
      const path = server ? pathTo(server, "traffic", seq) : alone;
      // At once: the next key begins at the row that this one reached.
      void navigate(path + more, { replace: true, flushSync: true });
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

/** Closes the details by Esc or button, and returns the focus to the rows. */
function useCloseDetails(isOpen: boolean, go: Go) {
  const place = useRef<HTMLDivElement>(null);
  const isClosing = useRef(false);
  /** With another query, if one is given. */
  const close = (query?: URLSearchParams): void => {
    isClosing.current = true;
    go(undefined, query && (query.size ? `?${query}` : ""));
  };
  useEscape(isOpen, () => close());
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

/** Opens a row: at its answer if it failed, or if answers are being read. */
function useChoose({ context }: ArrangedRows, chosen: EventView | undefined, go: Go) {
  // The answer that was opened because it says what failed: nobody asked for answers.
  const failure = useRef<number | null>(null);
  const { ring, arrangement } = context;
  const isAnswer =
    arrangement !== "wire" &&
    chosen !== undefined &&
    isReply(chosen) &&
    chosen.seq !== failure.current;
  return useCallback(
    (event: EventView) => {
      const { links } = ring;
      const answer = links.answerOf(event);
      // The answer to a later round stands in a row of its own, beneath this one.
      const isFailed =
        arrangement === "paired" &&
        links.lastRoundOf(event) === event &&
        toneOfRow(event, { ring, arrangement }) === "bad";
      failure.current = !isAnswer && isFailed && answer && isReply(answer) ? answer.seq : null;
      go(failure.current ?? ((isAnswer && links.answerOf(event)) || event).seq);
    },
    [go, isAnswer, ring, arrangement],
  );
}

function TrafficScreen({ recorded }: { recorded: RecordedRun }) {
  const { ring } = recorded;
  const { server, item, query, setQuery, go, change } = useAddress();
  const shown = useTrafficRows();
  const { runId, cleared, setCleared } = shown;
  const table = useArrangedRows(shown);
  const [marked, setMarked] = useState(NO_MARKS);
  const isLive = !query.has("run");
  const clearing = useClearTraffic(ring, shown, isLive, go);
  const backfill = useBackfill(runId, isLive);
  const { chosen, base, ...named } = useSelectedEvents(ring, runId, item, query.get("compare"));
  const choose = useChoose(table, chosen, go);
  // One that another process records goes on, too.
  const isGrowing = useInspector(
    ({ runs }) => isLive || runs.get(runId ?? "")?.run.is_live === true,
  );
  const allLinks = (): void => setQuery((old) => withLink(old, null), { replace: true });
  const latest = useRef(table);
  latest.current = table;
  const readShown = useCallback(() => latest.current.eventsIn(latest.current.rows), []);
  const compare = (one: EventView, other: EventView): void =>
    go(other.seq, `?${withCompared(query, eventKey(one))}`);
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
          isWire={shown.isWire}
          onWire={shown.setWire}
          oursCount={shown.oursCount}
          hasHttp={shown.hasHttp}
          onFold={table.fold}
          choices={table.choices}
          onClear={clearing.ask}
          onDown={enter}
          shown={readShown}
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
        onProblems={() => shown.setFilter({ ...NO_FILTER, status: "malformed" })}
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
            <TrafficTable
              rows={table.rows}
              version={shown.version}
              context={table.context}
              tree={table.tree}
              toggle={table.toggle}
              choices={table.choices}
              sort={table.sort}
              onSort={table.onSort}
              selection={{
                chosen: chosen ? table.rowOf(chosen).seq : named.seq,
                marked,
                onChoose: choose,
                onMark: setMarked,
              }}
              isLive={isGrowing}
              none={<NoRows shown={shown} onAllLinks={allLinks} />}
            />
            <TrafficFoot
              table={table}
              shown={shown}
              version={shown.version}
              isSearching={shown.isSearching}
              marked={marked}
              onMark={setMarked}
              runId={runId}
              onCompare={compare}
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
              onClose={() => close()}
              onAll={() => close(withLink(query, null))}
            />
          ) : null
        }
      />
    </div>
  );
}
