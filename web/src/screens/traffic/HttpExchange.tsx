// The HTTP request and response that carried a message, or that an event is part of.
import { useMemo } from "react";
import type { EventView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { duration } from "../../parts/format";
import { type EventRing, useRing } from "../../state/events";
import css from "./HttpExchange.module.css";

// The exchange of a message begins this close to it.
const NEAR = 40;

const exchangeId = (event: EventView): number | null =>
  typeof event.detail.exchange_id === "number" ? event.detail.exchange_id : null;

/** The number of the exchange that carried this event. */
export function exchangeOf(ring: EventRing, event: EventView): number | null {
  const events = ring.items;
  const own = exchangeId(event);
  if (own !== null) return own;
  const other = ring.joined(event).other_seq;
  const sent = event.kind === "FrameSent" ? event : other === null ? undefined : ring.find(other);
  if (sent?.kind !== "FrameSent") return null;
  const at = events.indexOf(sent);
  const near = events.slice(Math.max(0, at - NEAR), at + NEAR);
  const found = near.find(
    (one) =>
      one.kind === "HttpRequestSent" &&
      one.server_id === sent.server_id &&
      one.head === sent.head &&
      one.size_bytes === sent.size_bytes,
  );
  return found ? exchangeId(found) : null;
}

function Headers({ event }: { event: EventView }) {
  const headers = Array.isArray(event.detail.headers)
    ? (event.detail.headers as [string, string][])
    : [];
  return (
    <dl className={`facts mono ${css.headers}`}>
      {headers.map(([name, value], index) => (
        <div key={index} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function HttpExchange({ event }: { event: EventView }) {
  const ring = useRing();
  const parts = useMemo(() => {
    const id = exchangeOf(ring, event);
    if (id === null) return [];
    return ring.items.filter((one) => one.server_id === event.server_id && exchangeId(one) === id);
  }, [ring, event]);
  if (parts.length === 0) {
    return (
      <Empty icon="traffic" title="No HTTP here">
        This was not carried by an HTTP exchange that is still in memory.
      </Empty>
    );
  }
  return (
    <div className="stack">
      {parts.map((part) => (
        <section key={part.seq} className="stack tight">
          {part.kind === "HttpRequestSent" && (
            <h4 className={`mono ${css.line}`}>
              {part.method} {String(part.detail.url)}
            </h4>
          )}
          {part.kind === "HttpResponseReceived" && (
            <h4 className={`mono ${css.line}`}>
              {part.status} {String(part.detail.reason)}{" "}
              <span className="dim">after {duration(Number(part.detail.elapsed_s))}</span>
            </h4>
          )}
          {part.kind === "HttpExchangeEnded" && (
            <h4 className={`mono ${css.line}`}>
              {part.detail.error ? `Ended: ${String(part.detail.error)}` : "Ended"}{" "}
              <span className="dim">after {duration(Number(part.detail.elapsed_s))}</span>
            </h4>
          )}
          <Headers event={part} />
          {part.head && <pre className="block">{part.head}</pre>}
        </section>
      ))}
    </div>
  );
}
