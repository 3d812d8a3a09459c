// The whole HTTP exchange that carried a message.
import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { bytesPath } from "../../api/http";
import type { EventView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { EmptyState } from "../../components/EmptyState";
import { TextView } from "../../components/TextView";
import { useRing, useRingVersion } from "../../state/events";
import { useWholeEvent, type WholeEventState } from "../../state/wholeEvent";
import { formatBytes, formatDuration, formatTime, pluralize } from "../../values/format";
import { exchangeOf } from "./exchange";
import css from "./HttpExchange.module.css";

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
        <Callout>{whole.problem} Only the beginning of the body is shown.</Callout>
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

function Heading({ part }: { part: EventView }) {
  const { kind, method, status, detail, wall } = part;
  const after =
    typeof detail.elapsed_s === "number" && ` after ${formatDuration(detail.elapsed_s)}`;
  return (
    <h4 className={`mono ${css.line}`}>
      {kind === "HttpRequestSent" && `${method} ${String(detail.url)}`}
      {kind === "HttpResponseReceived" && `${status} ${String(detail.reason)}`}
      {kind === "HttpBytesReceived" && `Body chunk, ${formatBytes(part.size_bytes)}`}
      {kind === "HttpExchangeEnded" && (detail.error ? `Ended: ${String(detail.error)}` : "Ended")}
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

export function HttpExchange({ event }: { event: EventView }) {
  const ring = useRing();
  const version = useRingVersion(ring);
  const [most, setMost] = useState(AT_ONCE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest of an exchange may still come
  const parts = useMemo(() => exchangeOf(ring, event), [ring, event, version]);
  if (parts.length === 0) {
    return (
      <EmptyState icon="traffic" title="No HTTP exchange">
        No HTTP exchange is recorded for this event.
      </EmptyState>
    );
  }
  const left = parts.length - most;
  return (
    <div className="stack">
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
