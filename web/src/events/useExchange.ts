// The HTTP events of an exchange: those of the ring, and from the recording those that it lacks.
import { useEffect, useState } from "react";
import { fetchHistory } from "../api/http";
import type { EventView } from "../api/types";
import { isHttp } from "../state/eventLinks";
import { type EventRing, ring as live, useRing, useRingVersion } from "../state/events";
import { errorMessage } from "../values/format";

// The backend's page size; of a longer stream the beginning is enough.
const MOST = "5000";

export interface ExchangeParts {
  parts: EventView[];
  isLoading: boolean;
  /** Why the recording could not be read. */
  problem: string | null;
}

interface Recorded extends Omit<ExchangeParts, "isLoading"> {
  of: string;
}

const has = (parts: EventView[], kind: string): boolean => parts.some((one) => one.kind === kind);

/** Whether the ring may lack a part: it was cut off, not sent, or did not fit. */
const isPartial = (ring: EventRing, parts: EventView[]): boolean =>
  !has(parts, "HttpRequestSent") ||
  ring.gaps.length > 0 ||
  (ring !== live && !has(parts, "HttpExchangeEnded"));

function merged(recorded: EventView[], loaded: EventView[]): EventView[] {
  const known = new Set(loaded.map(({ seq }) => seq));
  const all = recorded.filter(({ seq }) => !known.has(seq)).concat(loaded);
  return all.sort((one, other) => one.seq - other.seq);
}

export function useExchange({
  run_id,
  exchange_id,
}: Pick<EventView, "run_id" | "exchange_id">): ExchangeParts {
  const ring = useRing();
  useRingVersion(ring); // the rest of an exchange may still come
  const isHere = ring.items[0]?.run_id === run_id;
  const loaded = exchange_id !== null && isHere ? ring.links.partsOf(exchange_id) : [];
  const of = `${run_id}/${exchange_id}`;
  const [recorded, setRecorded] = useState<Recorded | null>(null);
  const isWanted = exchange_id !== null && isPartial(ring, loaded);
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    const take = (parts: EventView[], problem: string | null): void => {
      if (!isGone) setRecorded({ of, parts, problem });
    };
    fetchHistory({ run: run_id, exchange_id: String(exchange_id), limit: MOST }).then(
      ({ events }) => take(events.filter(isHttp), null),
      (thrown) => take([], errorMessage(thrown)),
    );
    return () => {
      isGone = true;
    };
  }, [of, run_id, exchange_id, isWanted]);
  const found = recorded?.of === of ? recorded : null;
  return {
    parts: found?.parts.length ? merged(found.parts, loaded) : loaded,
    isLoading: isWanted && found === null,
    problem: found?.problem ?? null,
  };
}
