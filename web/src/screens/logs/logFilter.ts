// Filters log lines.
import type { EventView } from "../../api/types";
import type { LinkFilter } from "../../state/linkFilter";
import { withoutAnsi } from "../../values/ansi";
import { isLog, isStderr, levelOf, loggerOf, SHOWN_LEVELS, textOf } from "./logLines";

export interface LogFilter {
  text: string;
  levels: string[];
  server_id: string | null;
  /** Only lines of this request, call or exchange. */
  link: LinkFilter | null;
  /** Lines up to this one are cleared from view. */
  after_seq: number;
}

export type Stream = "both" | "messages" | "stderr";

// Searchable text without ANSI colors. Cached per event, since every key press searches all lines.
const searched = new WeakMap<EventView, string>();

function searchedIn(event: EventView): string {
  let text = searched.get(event);
  if (text === undefined) {
    const said = withoutAnsi(textOf(event));
    text = `${event.server_id} ${levelOf(event)} ${loggerOf(event)} ${said}`.toLowerCase();
    searched.set(event, text);
  }
  return text;
}

export function logMatcher(
  filter: LogFilter,
  stream: Stream,
  isLinked: (event: EventView) => boolean,
): (event: EventView) => boolean {
  const needle = filter.text.trim().toLowerCase();
  // Unknown levels are never hidden.
  const hidden = new Set(SHOWN_LEVELS.filter((level) => !filter.levels.includes(level)));
  return (event) =>
    isLog(event) &&
    event.seq > filter.after_seq &&
    (stream === "both" || isStderr(event) === (stream === "stderr")) &&
    (filter.server_id === null || event.server_id === filter.server_id) &&
    !hidden.has(levelOf(event)) &&
    isLinked(event) &&
    (!needle || searchedIn(event).includes(needle));
}
