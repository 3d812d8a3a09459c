// The whole HTTP exchange that carried a message.
import { Button } from "@mantine/core";
import { useState } from "react";
import { bytesPath } from "../api/http";
import type { EventView } from "../api/types";
import { Callout } from "../components/Callout";
import { EmptyState } from "../components/EmptyState";
import { TextView } from "../components/TextView";
import { isHttp } from "../state/eventLinks";
import { useWholeEvent, type WholeEventState } from "../state/wholeEvent";
import { formatBytes, formatDuration, formatTime, pluralize } from "../values/format";
import css from "./HttpExchange.module.css";
import { useExchange } from "./useExchange";

// A long-lived stream has thousands of chunks, so they are shown in steps.
const AT_ONCE = 20;

function Headers({ value }: { value: unknown }) {
  if (!Array.isArray(value)) return null;
  return (
    <dl className={`facts mono ${css.headers}`}>
      {(value as [string, string][]).map(([name, text], index) => (
        <div key={index} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function Download({ part }: { part: EventView }) {
  return (
    <a href={bytesPath(part.run_id, part.seq)} download>
      Download the bytes
    </a>
  );
}

function Body({ part, whole }: { part: EventView; whole: WholeEventState | null }) {
  const label = part.kind === "HttpRequestSent" ? "Request body" : "Response body";
  if (part.size_bytes === 0) return null;
  if (whole && "problem" in whole)
    return (
      <>
        <Callout>{`${whole.problem} Only the beginning of the body is shown.`}</Callout>
        <TextView text={part.head} label={label} />
      </>
    );
  const got = whole?.whole;
  if (got && got.text === null)
    return (
      <p className="dim">
        {formatBytes(part.size_bytes)} of binary data. <Download part={part} />
      </p>
    );
  return (
    <>
      <TextView text={got?.text ?? part.head} label={label} most={320} />
      {got?.text_is_cut && (
        <p className="dim">
          Cut short. <Download part={part} />
        </p>
      )}
    </>
  );
}

/** The end of an exchange; an answer that came at once has its body there. */
function endOf({ detail, size_bytes }: EventView): string {
  if (detail.error) return `Ended: ${String(detail.error)}`;
  return size_bytes > 0 ? `Body, ${formatBytes(size_bytes)}` : "Ended";
}

function Heading({ part }: { part: EventView }) {
  const { kind, method, status, detail, wall } = part;
  const after =
    typeof detail.elapsed_s === "number" && ` after ${formatDuration(detail.elapsed_s)}`;
  return (
    <h4 className={`mono ${css.line}`}>
      {kind === "HttpRequestSent" && `${method} ${String(detail.url)}`}
      {kind === "HttpResponseReceived" && `${status} ${String(detail.reason)}`}
      {kind === "HttpBytesReceived" && `Body chunk, ${formatBytes(part.size_bytes)}`}
      {kind === "HttpExchangeEnded" && endOf(part)}
      <span className="dim">
        {" "}
        {formatTime(wall)}
        {after}
      </span>
    </h4>
  );
}

function Part({ part }: { part: EventView }) {
  const whole = useWholeEvent(part.is_cut || part.size_bytes > 0 ? part : null);
  const full = whole && "whole" in whole ? whole.whole.event : part;
  return (
    <section className="stack tight">
      <Heading part={part} />
      <Headers value={full.detail.headers} />
      <Body part={part} whole={whole} />
    </section>
  );
}

/** Where no part of the exchange can be shown: why. */
function NoExchange({ event, problem }: { event: EventView; problem: string | null }) {
  if (event.exchange_id === null)
    return (
      <EmptyState icon="traffic" title="No HTTP exchange">
        No HTTP exchange is recorded for this event.
      </EmptyState>
    );
  return (
    <EmptyState icon="traffic" title={`HTTP exchange ${event.exchange_id} is not recorded`}>
      {problem ?? "It was removed from the recording, or left out of the trace."}
    </EmptyState>
  );
}

export function HttpExchange({ event }: { event: EventView }) {
  const exchange = useExchange(event);
  const [most, setMost] = useState(AT_ONCE);
  // Recordings of older versions do not say what else an HTTP event belongs to.
  const isAlone = event.exchange_id === null && isHttp(event);
  const parts = isAlone ? [event] : exchange.parts;
  if (parts.length === 0)
    return exchange.isLoading ? (
      <p className="dim">Loading…</p>
    ) : (
      <NoExchange event={event} problem={exchange.problem} />
    );
  const isWhole = parts[0]?.kind === "HttpRequestSent" && !isAlone;
  const left = parts.length - most;
  return (
    <div className="stack">
      {!isWhole && !exchange.isLoading && (
        <p className="dim">
          {isAlone ? "The rest of this exchange" : "The beginning of this exchange"} is not
          recorded.
        </p>
      )}
      {parts.slice(0, most).map((part) => (
        <Part key={part.seq} part={part} />
      ))}
      {left > 0 && (
        <Button variant="default" size="compact-xs" onClick={() => setMost(most + AT_ONCE)}>
          Show more of {pluralize(left, "part")}
        </Button>
      )}
    </div>
  );
}
