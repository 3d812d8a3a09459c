// Log lines as rows, in one stream or side by side.
import { memo, useCallback, useMemo } from "react";
import type { EventView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { RowList } from "../../parts/RowList";
import { Split } from "../../parts/Split";
import { useRing } from "../../state/events";
import { type LogFilter, type Stream, wantedLogs } from "./filter";
import { Count } from "./LogBar";
import { LogRow } from "./LogRow";
import { type Lines, useLines, useRows } from "./useLines";

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

/** Why there are no lines, now or in a run that is over. */
export function whyNone(filter: LogFilter, stream: Stream, isLive = true): string {
  const { levels, text, request_id } = filter;
  if (levels.length === 0) return "All levels are hidden; choose some above.";
  const isHidden = stream === "stderr" && !levels.includes("stderr");
  if (isHidden) return "stderr is hidden; choose it among the levels above.";
  if (text || request_id) return "No line fits this filter.";
  if (isLive) return NONE[stream];
  return filter.server_id === null
    ? "This run has none."
    : "This run has none of this server; choose all servers above.";
}

/** The lines of a stream that a filter lets through. */
export function useStream(filter: LogFilter, stream: Stream): Lines {
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
  isLive: boolean;
  chosen: number | null;
  onChoose(event: EventView): void;
}

export const LogList = memo(({ lines, filter, stream, isLive, chosen, onChoose }: ListProps) => {
  const rows = useRows(lines);
  const withServer = filter.server_id === null;
  const draw = useCallback(
    (event: EventView) => <LogRow event={event} withServer={withServer} />,
    [withServer],
  );
  if (rows.length === 0)
    return (
      <Empty icon="logs" title={stream === "stderr" ? "Nothing on stderr" : "No log lines"}>
        {whyNone(filter, stream, isLive)}
      </Empty>
    );
  return (
    <RowList label={NAMES[stream]} rows={rows} chosen={chosen} onChoose={onChoose} draw={draw} />
  );
});
LogList.displayName = "LogList";

function Half(props: Omit<ListProps, "lines">) {
  const lines = useStream(props.filter, props.stream);
  return (
    <section className="pane" aria-label={NAMES[props.stream]}>
      <div className="toolbar">
        <h2 className="section-title grow">{NAMES[props.stream]}</h2>
        <Count lines={lines} />
      </div>
      <LogList {...props} lines={lines} />
    </section>
  );
}

export function Halves(props: Omit<ListProps, "lines" | "stream">) {
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
