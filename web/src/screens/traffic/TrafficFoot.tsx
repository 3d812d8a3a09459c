// The line below the table: what the rows add up to, or what can be done with the selected ones.
import { Button, Menu } from "@mantine/core";
import { fetchEvent } from "../../api/http";
import type { EventView } from "../../api/types";
import { copyText } from "../../components/clipboard";
import { withErrorToast } from "../../state/toasts";
import { fileName } from "../../values/fileName";
import { formatBytes, formatDuration, pluralize } from "../../values/format";
import { saveRows } from "./ExportMenu";
import { isMessage } from "./eventLabel";
import { describeTrafficFilter } from "./filterOptions";
import { usePaced } from "./sortedRows";
import css from "./TrafficFoot.module.css";
import { summaryOf } from "./trafficSummary";
import type { ArrangedRows } from "./useArrangedRows";
import { type Marked, NO_MARKS } from "./useTableKeys";
import type { TrafficRows } from "./useTrafficRows";

// More would not be pasted anywhere; an export has no such limit.
const MOST_COPIED = 500;

interface Props {
  table: ArrangedRows;
  shown: TrafficRows;
  version: number;
  isSearching: boolean;
  marked: Marked;
  onMark(marked: Marked): void;
  runId: string | null;
  onCompare(one: EventView, other: EventView): void;
}

/** The messages of some events, one in each line. */
async function copyMessages(events: EventView[]): Promise<void> {
  const wholes = await Promise.all(
    events.slice(0, MOST_COPIED).map(({ run_id, seq }) => fetchEvent(run_id, seq)),
  );
  copyText(wholes.map(({ text, event }) => text ?? JSON.stringify(event.detail)).join("\n"));
}

function SelectionActions({ table, marked, onMark, runId, onCompare }: Props) {
  const rows = [...marked.values()];
  const events = table.eventsIn(rows);
  const messages = events.filter((event) => event.size_bytes > 0);
  const [one, other] = rows;
  const save = (format: "jsonl" | "har"): void => {
    const name = fileName(["traffic", "selected"], format);
    if (runId !== null) void saveRows(format, runId, events, name);
  };
  return (
    <>
      <strong role="status">{pluralize(rows.length, "row")} selected</strong>
      <Button
        variant="default"
        size="compact-xs"
        disabled={messages.length === 0}
        onClick={() =>
          void withErrorToast("The messages could not be copied", copyMessages(messages))
        }
      >
        Copy messages
      </Button>
      <Menu position="top-start">
        <Menu.Target>
          <Button variant="default" size="compact-xs">
            Export selected
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => save("jsonl")}>Trace (JSON Lines)</Menu.Item>
          <Menu.Item onClick={() => save("har")}>HTTP archive (HAR)</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="default"
        size="compact-xs"
        disabled={rows.length !== 2}
        title={rows.length === 2 ? undefined : "Select two rows to compare them"}
        onClick={() => {
          if (!one || !other) return;
          onMark(NO_MARKS);
          onCompare(one, other);
        }}
      >
        Compare
      </Button>
      <Button variant="subtle" color="gray" size="compact-xs" onClick={() => onMark(NO_MARKS)}>
        Clear selection
      </Button>
    </>
  );
}

/** What the rows show, in the words of the list of sessions: messages, of how many, and why. */
export function shownWords(shown: TrafficRows): string {
  const { rows, layer, isWire, messageCount, filter } = shown;
  if (layer === "http" && !isWire)
    return pluralize(rows.filter(({ kind }) => kind === "HttpRequestSent").length, "exchange");
  if (layer !== "messages") return pluralize(rows.length, "event");
  const messages = rows.filter(isMessage).length;
  if (messages >= messageCount) return pluralize(messageCount, "message");
  const words = `${messages.toLocaleString("en")} of ${pluralize(messageCount, "message")}`;
  const hidden = (messageCount - messages).toLocaleString("en");
  const isFiltered = describeTrafficFilter(filter, null).length > 0 || shown.link !== null;
  const isOurs = shown.oursCount > 0 && !filter.ours && !isFiltered && shown.cleared === null;
  return isOurs ? `${words}, ${hidden} of mcplens's own hidden` : words;
}

function Sums({ table, shown, version, isSearching }: Props) {
  const { context } = table;
  const sums = usePaced(table.rows, version, context, () => summaryOf(table.rows, context));
  const words = usePaced(shown.rows, version, context, () => shownWords(shown));
  const { requests, errors, waiting, size_bytes, median_s, p95_s } = sums;
  return (
    <>
      <span role="status">{isSearching ? "Searching…" : words}</span>
      {context.arrangement !== "http" && <span>{pluralize(requests, "request")}</span>}
      {errors > 0 && <span className={css.bad}>{pluralize(errors, "error")}</span>}
      {waiting > 0 && <span className={css.wait}>{waiting.toLocaleString("en")} waiting</span>}
      <span>{formatBytes(size_bytes)}</span>
      {median_s !== null && <span>median {formatDuration(median_s)}</span>}
      {p95_s !== null && <span>p95 {formatDuration(p95_s)}</span>}
    </>
  );
}

export function TrafficFoot(props: Props) {
  return (
    <div className={css.foot}>
      {props.marked.size > 0 ? <SelectionActions {...props} /> : <Sums {...props} />}
    </div>
  );
}
