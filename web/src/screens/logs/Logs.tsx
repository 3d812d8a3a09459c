// What servers log and write to stderr, as it comes, in one stream or side by side.
import { useDebouncedValue } from "@mantine/hooks";
import { memo, useCallback, useMemo, useRef, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { LostServer } from "../../parts/LostNote";
import { focusRows, RowList } from "../../parts/RowList";
import { SearchField } from "../../parts/SearchField";
import { Split } from "../../parts/Split";
import { useEscape } from "../../parts/useEscape";
import { useRing } from "../../state/events";
import { useOlder } from "../../state/older";
import { useDraft, usePreference } from "../../state/remembered";
import { useInspector } from "../../state/store";
import { Lacking, Line } from "../traffic/Lacking";
import { useEvent } from "../traffic/useEvent";
import { type LogFilter, type Stream, wantedLogs } from "./filter";
import { Count, ServerLevel, ShownLevels, Taking, View } from "./LogBar";
import { LogDetail } from "./LogDetail";
import { LogRow } from "./LogRow";
import { SHOWN } from "./levels";
import { type Lines, useLines, useRows } from "./useLines";

// All lines are looked at for a text, so not for every key of a word.
const TYPING_MS = 120;

const NAMES: Record<Stream, string> = {
  both: "Log lines",
  messages: "Log messages",
  stderr: "stderr",
};
const NONE: Record<Stream, string> = {
  both: "Log messages of the server and what it writes to stderr appear here. Some servers log nothing until a level is set.",
  messages: "Log messages of the server appear here. Some servers send none until a level is set.",
  stderr: "What a server that runs on this computer writes to stderr appears here.",
};

/** Why there are no lines. */
export function whyNone({ levels, text, request_id }: LogFilter, stream: Stream): string {
  if (levels.length === 0) return "All levels are hidden; choose some above.";
  const isHidden = stream === "stderr" && !levels.includes("stderr");
  if (isHidden) return "stderr is hidden; choose it among the levels above.";
  return text || request_id ? "No line fits this filter." : NONE[stream];
}

/** The lines of a stream that a filter lets through. */
function useStream(filter: LogFilter, stream: Stream): Lines {
  const { ownerOf } = useRing();
  const wanted = useMemo(
    () => wantedLogs(filter, stream, (event) => ownerOf(event)?.id),
    [filter, stream, ownerOf],
  );
  return useLines(wanted);
}

interface ListProps {
  lines: Lines;
  filter: LogFilter;
  stream: Stream;
  chosen: number | null;
  onChoose(event: EventView): void;
}

const List = memo(({ lines, filter, stream, chosen, onChoose }: ListProps) => {
  const rows = useRows(lines);
  const withServer = filter.server_id === null;
  const draw = useCallback(
    (event: EventView) => <LogRow event={event} withServer={withServer} />,
    [withServer],
  );
  if (rows.length === 0)
    return (
      <Empty icon="logs" title={stream === "stderr" ? "Nothing on stderr" : "No log lines"}>
        {whyNone(filter, stream)}
      </Empty>
    );
  return (
    <RowList label={NAMES[stream]} rows={rows} chosen={chosen} onChoose={onChoose} draw={draw} />
  );
});
List.displayName = "List";

function Half(props: Omit<ListProps, "lines">) {
  const lines = useStream(props.filter, props.stream);
  return (
    <section className="pane" aria-label={NAMES[props.stream]}>
      <div className="toolbar">
        <h2 className="section-title grow">{NAMES[props.stream]}</h2>
        <Count lines={lines} />
      </div>
      <List {...props} lines={lines} />
    </section>
  );
}

function Halves(props: Omit<ListProps, "lines" | "stream">) {
  return (
    <Split
      name="logs.streams"
      label="Size of the log messages"
      initial={640}
      first={<Half {...props} stream="messages" />}
      second={<Half {...props} stream="stderr" />}
    />
  );
}

/** The address names the request and the line that are shown. */
function useAddress() {
  const [query, setQuery] = useSearchParams();
  const change = useCallback(
    (name: "id" | "line", value: string | null): void =>
      setQuery(
        (old) => {
          if (value === null) old.delete(name);
          else old.set(name, value);
          return old;
        },
        { replace: true },
      ),
    [setQuery],
  );
  const line = query.get("line");
  return { requestId: query.get("id"), line: line ? Number(line) : null, change };
}

export function Logs() {
  const { server } = useParams();
  const ring = useRing();
  const place = useRef<HTMLDivElement>(null);
  const { requestId, line, change } = useAddress();
  const runId = useInspector((state) => state.run_id);
  const [isAll, setAll] = usePreference("logs.all", false);
  const [isSplit, setSplit] = usePreference("logs.split", false);
  const [levels, setLevels] = usePreference<string[]>("logs.levels", [...SHOWN]);
  const [cleared, setCleared] = useDraft("logs.cleared", { run_id: "", seq: 0 });
  const [text, setText] = useState("");
  const [calm] = useDebouncedValue(text, TYPING_MS);
  // An id means something within its server alone.
  const serverId = (isAll && requestId === null) || server === undefined ? null : server;
  const afterSeq = cleared.run_id === runId ? cleared.seq : 0;
  const filter = useMemo(
    (): LogFilter => ({
      text: calm,
      levels,
      server_id: serverId,
      request_id: requestId,
      after_seq: afterSeq,
    }),
    [calm, levels, serverId, requestId, afterSeq],
  );
  const lines = useStream(filter, "both");
  const older = useOlder(runId, true);
  const { event: chosen, problem } = useEvent(ring, { run_id: runId, seq: line });
  const choose = useCallback((event: EventView) => change("line", String(event.seq)), [change]);
  const close = (): void => {
    change("line", null);
    focusRows(place.current);
  };
  useEscape(chosen !== undefined, close);
  const clear = useCallback(
    () => setCleared({ run_id: runId ?? "", seq: ring.lastSeq ?? 0 }),
    [setCleared, runId, ring],
  );
  const shown = { filter, chosen: line, onChoose: choose };
  return (
    <div className="pane">
      <h1 className="sr">Logs</h1>
      <div className="toolbar">
        <SearchField label="Filter logs" value={text} onChange={setText} />
        {server && <ServerLevel serverId={server} />}
        <ShownLevels value={levels} onChange={setLevels} />
        <View isAll={serverId === null} onAll={setAll} isSplit={isSplit} onSplit={setSplit} />
        <span className="grow" />
        <Count lines={lines} />
        <Taking lines={lines} onClear={clear} />
      </div>
      <Lacking runId={runId} older={older} />
      {problem && <div className="toolbar">{problem}</div>}
      {serverId !== null && <LostServer serverId={serverId} />}
      {requestId !== null && (
        <Line button="Show all" onClick={() => change("id", null)}>
          Only lines of the request with id {requestId}
        </Line>
      )}
      {afterSeq > 0 && (
        <Line button="Show them again" onClick={() => setCleared({ run_id: "", seq: 0 })}>
          Earlier lines are cleared from view; the recording has them.
        </Line>
      )}
      <Split
        name="logs"
        label="Size of the log line"
        isVertical
        sized="second"
        initial={180}
        least={80}
        first={
          <div className="pane" ref={place}>
            {isSplit ? <Halves {...shown} /> : <List {...shown} lines={lines} stream="both" />}
          </div>
        }
        second={chosen ? <LogDetail event={chosen} onClose={close} /> : null}
      />
    </div>
  );
}
