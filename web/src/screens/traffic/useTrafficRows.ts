// The rows of Traffic, by filter, address, and where the view was cleared.
import { useDeferredValue, useMemo } from "react";
import { useParams, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { useNow } from "../../components/useNow";
import { useDraft } from "../../state/browserStorage";
import { type EventRing, useRing } from "../../state/events";
import { useFilteredEvents } from "../../state/filteredEvents";
import { type LinkFilter, linkFilterOf, linkMatcher } from "../../state/linkFilter";
import { useInspector } from "../../state/store";
import { durationSoFar } from "./eventDuration";
import { isMessage, type Layer } from "./eventLabel";
import { useFullTextSearch } from "./fullTextSearch";
import {
  ALL_SERVERS,
  NO_FILTER,
  OWN_PURPOSES,
  type TrafficFilter,
  trafficMatcher,
} from "./trafficFilter";
import { useWireOrder } from "./useArrangedRows";

// How often relative times and pending requests are filtered again.
const AGAIN_MS = 5_000;

interface Cleared {
  run_id: string;
  seq: number;
}

export interface TrafficRows {
  rows: EventView[];
  version: number;
  isSearching: boolean;
  filter: TrafficFilter;
  setFilter(filter: TrafficFilter): void;
  /** What the rows were filtered for, which lags behind the filter for a moment. */
  layer: Layer;
  isWire: boolean;
  setWire(isWire: boolean): void;
  /** How many messages, or HTTP exchanges, of our own match the filter, hidden or not. */
  oursCount: number;
  /** How many messages there are before any filter. */
  messageCount: number;
  /** Whether there can be HTTP exchanges: a server over stdio has none. */
  hasHttp: boolean;
  /** Null where all servers are shown. */
  serverId: string | null;
  runId: string | null;
  /** The request, call or exchange that the address names. */
  link: LinkFilter | null;
  cleared: Cleared | null;
  setCleared(cleared: Cleared | null): void;
}

/** The end of relative times: now, or the end of a recorded run. */
function useEnd(ring: EventRing, filter: TrafficFilter, isLive: boolean): number {
  const isCounting = filter.time === "1" || filter.time === "5" || filter.slower !== null;
  const now = useNow(isCounting && isLive, AGAIN_MS);
  return isLive ? now : (ring.items.at(-1)?.wall ?? now);
}

function useHasHttp(ring: EventRing, serverId: string | null, isLive: boolean): boolean {
  const isOverHttp = useInspector(({ servers }) => {
    const shown = serverId === null ? [...servers.values()] : [servers.get(serverId)];
    return shown.some((one) => one !== undefined && one.transport !== "stdio");
  });
  return (isLive && isOverHttp) || ring.links.hasHttp(serverId);
}

export function useTrafficRows(): TrafficRows {
  const ring = useRing();
  const { server } = useParams();
  const [query] = useSearchParams();
  const [clearedAt, setCleared] = useDraft<Cleared | null>("traffic.cleared", null);
  const current = useInspector((state) => state.run_id);
  const run = query.get("run");
  // What is looked for in an earlier session would hide what happens now.
  const draft = run === null ? "traffic.filter" : "traffic.filter.earlier";
  const [kept, setFilter] = useDraft<Partial<TrafficFilter>>(draft, NO_FILTER);
  const filter = useMemo(() => ({ ...NO_FILTER, ...kept }), [kept]);
  const runId = run ?? current;
  const calm = useDeferredValue(filter);
  const now = useEnd(ring, calm, run === null);
  const here = run === null ? (server ?? null) : null;
  const serverId = calm.server === "" ? here : calm.server === ALL_SERVERS ? null : calm.server;
  const link = useMemo(() => linkFilterOf(query), [query]);
  const { found, isSearching } = useFullTextSearch(filter.text, runId, ring);
  const cleared = clearedAt?.run_id === runId ? clearedAt : null;
  const [isWire, setWire] = useWireOrder();
  const { wanted, isOurs } = useMemo(() => {
    const context = {
      found,
      now,
      after: cleared?.seq,
      lastedOf: (event: EventView, at: number) => durationSoFar(event, ring, at),
      purposeOf: (event: EventView) => ring.links.purposeOf(event),
      isStreamed: (event: EventView) => !isWire && ring.links.isStreamed(event),
      isLinked: linkMatcher(ring, link),
    };
    // A link leads to everything that belongs to it.
    const all = trafficMatcher({ ...calm, ours: true }, serverId, context);
    const isCounted = (event: EventView): boolean =>
      calm.layer === "http" ? event.kind === "HttpRequestSent" : isMessage(event);
    const isOurs = (event: EventView): boolean =>
      isCounted(event) && OWN_PURPOSES.has(ring.links.purposeOf(event)) && all(event);
    return { wanted: link ? all : trafficMatcher(calm, serverId, context), isOurs };
  }, [calm, serverId, link, found, now, cleared?.seq, ring, isWire]);
  const { rows, version, isFiltering } = useFilteredEvents(wanted, calm.slower !== null);
  const ours = useFilteredEvents(isOurs);
  const isAnyMessage = useMemo(() => {
    const after = cleared?.seq ?? 0;
    return (event: EventView) =>
      isMessage(event) && event.seq > after && (serverId === null || event.server_id === serverId);
  }, [serverId, cleared?.seq]);
  const messages = useFilteredEvents(isAnyMessage);
  const hasHttp = useHasHttp(ring, serverId, run === null);
  return {
    rows,
    version,
    isSearching: isSearching || isFiltering,
    filter,
    setFilter,
    layer: calm.layer,
    isWire,
    setWire,
    oursCount: ours.rows.length,
    messageCount: messages.rows.length,
    hasHttp,
    serverId,
    runId,
    link,
    cleared,
    setCleared,
  };
}
