// Empty state of Traffic: why there are no rows, and how to see more.
import { EmptyState } from "../../components/EmptyState";
import { NoMatches } from "../../components/NoMatches";
import { RunChooser } from "../../events/RunChooser";
import { useRing } from "../../state/events";
import { linkWords } from "../../state/linkFilter";
import { pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { describeTrafficFilter } from "./filterOptions";
import { ALL_SERVERS, NO_FILTER } from "./trafficFilter";
import type { TrafficRows } from "./useTrafficRows";

interface Props {
  shown: TrafficRows;
  onAllLinks(): void;
}

export function NoRows({ shown, onAllLinks }: Props) {
  const { filter, setFilter, serverId, link } = shown;
  const ring = useRing();
  const words = describeTrafficFilter(filter, link && linkWords(ring, link));
  const showAll = (): void => {
    setFilter({ ...NO_FILTER, ours: filter.ours });
    if (link !== null) onAllLinks();
  };
  if (shown.isSearching) return <EmptyState icon="traffic" title="Searching…" />;
  if (ring.items.length === 0)
    return (
      <EmptyState
        icon="traffic"
        title="No traffic yet"
        action={<RunChooser offer="Open an earlier session" />}
      >
        Connect a server: every message it sends or receives is listed here as it happens.
      </EmptyState>
    );
  if (shown.oursCount > 0 && !filter.ours)
    return (
      <NoMatches
        title={`Only ${pluralize(shown.oursCount, shown.layer === "http" ? "exchange" : "message")} of mcplens's own`}
        action="Show them"
        onClear={() => setFilter({ ...filter, ours: true })}
      >
        {visible(words.join(" · "))}
      </NoMatches>
    );
  if (words.length > 0)
    return (
      <NoMatches title="No row matches this filter" onClear={showAll}>
        {visible(words.join(" · "))}
      </NoMatches>
    );
  if (shown.cleared !== null)
    return <EmptyState icon="traffic" title="No traffic since it was cleared" />;
  if (serverId === null) return <EmptyState icon="traffic" title="No messages yet" />;
  return (
    <NoMatches
      title={`No messages of ${visible(serverId)} yet`}
      action="Show all servers"
      onClear={() => setFilter({ ...filter, server: ALL_SERVERS })}
    />
  );
}
