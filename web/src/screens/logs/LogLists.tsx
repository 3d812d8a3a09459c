// Log lines as rows, in one stream or side by side.
import { memo, useCallback, useMemo } from "react";
import type { EventView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { EventList } from "../../components/EventList";
import { NoMatches } from "../../components/NoMatches";
import { SplitPane } from "../../components/SplitPane";
import { useRing } from "../../state/events";
import { linkMatcher, linkWords } from "../../state/linkFilter";
import { visible } from "../../values/hiddenCharacters";
import { LogRow } from "./LogRow";
import { EnableLoggingHint, LineCount } from "./LogToolbar";
import { type LogFilter, logMatcher, type Stream } from "./logFilter";
import { SHOWN_LEVELS } from "./logLines";
import { type LogStream, useLogRows, useLogStream } from "./useLogLines";

const NAMES: Record<Stream, string> = {
  both: "Log lines",
  messages: "Log messages",
  stderr: "stderr",
};
const NONE: Record<Stream, string> = {
  both: "Log messages from the server and its stderr output appear here.",
  messages: "Log messages from the server appear here.",
  stderr: "The stderr output of a server that runs on this computer appears here.",
};

/** Description of a filter on a stream; empty if it filters nothing. */
export function describeLogFilter(
  { levels, text }: LogFilter,
  stream: Stream,
  link: string | null = null,
): string {
  const isWanted = (level: string): boolean =>
    stream === "both" || (level === "stderr") === (stream === "stderr");
  const [shown, hidden] = [levels, SHOWN_LEVELS.filter((level) => !levels.includes(level))].map(
    (some) => some.filter(isWanted),
  );
  const words = [
    text.trim() && `“${text.trim()}”`,
    link,
    hidden?.length && (shown?.length ? shown.join(", ") : "All levels are hidden"),
  ];
  return words.filter(Boolean).join(" · ");
}

/** Text of the empty state, live or in a recorded run. */
export function emptyText(filter: LogFilter, stream: Stream, isLive = true): string {
  if (isLive) return NONE[stream];
  return filter.server_id === null
    ? "This session has no log lines."
    : "This session has no lines from this server. Choose all servers above.";
}

/** The lines of a stream that match a filter. */
export function useStream(filter: LogFilter, stream: Stream): LogStream {
  const ring = useRing();
  const wanted = useMemo(
    () => logMatcher(filter, stream, linkMatcher(ring, filter.link)),
    [filter, stream, ring],
  );
  return useLogStream(wanted);
}

interface ListProps {
  lines: LogStream;
  filter: LogFilter;
  stream: Stream;
  isLive: boolean;
  chosen: number | null;
  onChoose(event: EventView): void;
  /** Resets the filter. */
  onAll(): void;
}

export const LogList = memo((props: ListProps) => {
  const { lines, filter, stream, isLive, chosen, onChoose, onAll } = props;
  const rows = useLogRows(lines);
  const ring = useRing();
  const withServer = filter.server_id === null;
  const render = useCallback(
    (event: EventView) => <LogRow event={event} withServer={withServer} />,
    [withServer],
  );
  if (rows.length > 0)
    return (
      <EventList
        label={NAMES[stream]}
        rows={rows}
        chosen={chosen}
        onChoose={onChoose}
        render={render}
      />
    );
  const words = describeLogFilter(filter, stream, filter.link && linkWords(ring, filter.link));
  if (words)
    return (
      <NoMatches title="No line matches this filter" onClear={onAll}>
        {visible(words)}
      </NoMatches>
    );
  return (
    <EmptyState
      icon="logs"
      title={stream === "stderr" ? "Nothing on stderr" : "No log lines"}
      action={isLive && stream !== "stderr" && <EnableLoggingHint serverId={filter.server_id} />}
    >
      {emptyText(filter, stream, isLive)}
    </EmptyState>
  );
});
LogList.displayName = "LogList";

function LogPane(props: Omit<ListProps, "lines">) {
  const lines = useStream(props.filter, props.stream);
  return (
    <section className="pane" aria-label={NAMES[props.stream]}>
      <div className="toolbar">
        <h2 className="section-title grow">{NAMES[props.stream]}</h2>
        <LineCount lines={lines} />
      </div>
      <LogList {...props} lines={lines} />
    </section>
  );
}

export function SplitLogLists(props: Omit<ListProps, "lines" | "stream">) {
  return (
    <SplitPane
      name="logs.streams"
      label="Size of the log messages"
      initial={640}
      first={<LogPane {...props} stream="messages" />}
      second={<LogPane {...props} stream="stderr" />}
    />
  );
}
