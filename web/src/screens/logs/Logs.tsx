// The Logs screen: log messages and stderr, live or recorded.
import { useDebouncedValue } from "@mantine/hooks";
import { memo, useCallback, useMemo, useRef, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { focusList } from "../../components/EventList";
import { SearchField } from "../../components/SearchField";
import { SplitPane } from "../../components/SplitPane";
import { useEscape } from "../../components/useEscape";
import { LinkNotice } from "../../events/LinkNotice";
import { MissingEvents, NoticeLine, RecordedRunStatus } from "../../events/MissingEvents";
import { RunChooser } from "../../events/RunChooser";
import { useEvent } from "../../events/useEvent";
import { FailedServerBanner } from "../../servers/DisconnectedBanner";
import { useBackfill } from "../../state/backfill";
import { useDraft, usePreference } from "../../state/browserStorage";
import { RingProvider } from "../../state/events";
import { linkFilterOf, withLink } from "../../state/linkFilter";
import { type RecordedRun, useRecordedRun } from "../../state/recordedRun";
import { useInspector } from "../../state/store";
import { LogDetail } from "./LogDetail";
import { LogList, SplitLogLists, useStream } from "./LogLists";
import {
  LevelFilter,
  LineCount,
  LogActions,
  LogViewOptions,
  ServerLevelSelect,
} from "./LogToolbar";
import type { LogFilter } from "./logFilter";
import { SHOWN_LEVELS } from "./logLines";

// Debounce: every search reads all lines.
const TYPING_MS = 120;

const Runs = memo(RunChooser);

/** The address names the run, the request and the line that are shown. */
function useAddress() {
  const [query, setQuery] = useSearchParams();
  const setLine = useCallback(
    (seq: number | null): void =>
      setQuery(
        (old) => {
          if (seq === null) old.delete("line");
          else old.set("line", String(seq));
          return old;
        },
        { replace: true },
      ),
    [setQuery],
  );
  const allLinks = useCallback(
    () => setQuery((old) => withLink(old, null), { replace: true }),
    [setQuery],
  );
  const line = query.get("line");
  const link = useMemo(() => linkFilterOf(query), [query]);
  return { run: query.get("run"), link, line: line ? Number(line) : null, setLine, allLinks };
}

/** The current filter and its setters. */
function useLogFilter(server: string | undefined, runId: string | null, link: LogFilter["link"]) {
  const [isAll, setAll] = usePreference("logs.all", false);
  const [levels, setLevels] = usePreference<string[]>("logs.levels", [...SHOWN_LEVELS]);
  const [cleared, setCleared] = useDraft("logs.cleared", { run_id: "", seq: 0 });
  const [text, setText] = useState("");
  const [calm] = useDebouncedValue(text, TYPING_MS);
  const serverId = isAll || server === undefined ? null : server;
  const afterSeq = cleared.run_id === runId ? cleared.seq : 0;
  const filter = useMemo(
    (): LogFilter => ({
      text: calm,
      levels,
      server_id: serverId,
      link,
      after_seq: afterSeq,
    }),
    [calm, levels, serverId, link, afterSeq],
  );
  const clear = useCallback(
    (seq: number) => setCleared({ run_id: runId ?? "", seq }),
    [setCleared, runId],
  );
  const showAll = useCallback(() => {
    setText("");
    setLevels([...SHOWN_LEVELS]);
  }, [setLevels]);
  return { filter, text, setText, levels, setLevels, setAll, clear, showAll };
}

/** Live logs, or those of the run that the address names. */
export function Logs() {
  const [query] = useSearchParams();
  const recorded = useRecordedRun(query.get("run"));
  return (
    <RingProvider value={recorded.ring}>
      <LogScreen recorded={recorded} />
    </RingProvider>
  );
}

function LogScreen({ recorded }: { recorded: RecordedRun }) {
  const { ring } = recorded;
  const { server } = useParams();
  const place = useRef<HTMLDivElement>(null);
  const { run, link, line, setLine, allLinks } = useAddress();
  const current = useInspector((state) => state.run_id);
  const runId = run ?? current;
  const isLive = run === null;
  const [isSplit, setSplit] = usePreference("logs.split", false);
  const wanted = useLogFilter(server, runId, link);
  const { filter, clear } = wanted;
  const lines = useStream(filter, "both");
  const backfill = useBackfill(runId, isLive);
  const { event: chosen, problem } = useEvent(ring, { run_id: runId, seq: line });
  const choose = useCallback((event: EventView) => setLine(event.seq), [setLine]);
  const close = (): void => {
    setLine(null);
    focusList(place.current);
  };
  useEscape(chosen !== undefined, close);
  const hide = useCallback(() => clear(ring.lastSeq ?? 0), [clear, ring]);
  const { showAll } = wanted;
  const all = useCallback(() => {
    showAll();
    allLinks();
  }, [showAll, allLinks]);
  const shown = { filter, isLive, chosen: line, onChoose: choose, onAll: all };
  return (
    <div className="pane">
      <h1 className="sr">Logs</h1>
      <div className="toolbar">
        <SearchField
          label="Filter logs"
          value={wanted.text}
          onChange={wanted.setText}
          onDown={() => focusList(place.current)}
        />
        {server && isLive && <ServerLevelSelect serverId={server} />}
        <LevelFilter value={wanted.levels} onChange={wanted.setLevels} />
        <LogViewOptions
          isAll={filter.server_id === null}
          onAll={wanted.setAll}
          isSplit={isSplit}
          onSplit={setSplit}
        />
        <Runs />
        <div className="actions">
          <LineCount lines={lines} />
          <LogActions lines={lines} serverId={filter.server_id} onClear={hide} />
        </div>
      </div>
      <RecordedRunStatus recorded={recorded} />
      <MissingEvents runId={runId} backfill={backfill} />
      {problem && <div className="toolbar">{problem}</div>}
      {isLive && filter.server_id !== null && <FailedServerBanner serverId={filter.server_id} />}
      {link && <LinkNotice link={link} onAll={allLinks} />}
      {filter.after_seq > 0 && (
        <NoticeLine button="Show them again" onClick={() => clear(0)}>
          Earlier lines are cleared from view; the recording has them.
        </NoticeLine>
      )}
      <SplitPane
        name="logs"
        label="Size of the log line"
        isVertical
        sized="second"
        initial={180}
        least={80}
        first={
          <div className="pane" ref={place}>
            {isSplit ? (
              <SplitLogLists {...shown} />
            ) : (
              <LogList {...shown} lines={lines} stream="both" />
            )}
          </div>
        }
        second={chosen ? <LogDetail event={chosen} onClose={close} /> : null}
      />
    </div>
  );
}
