// The HTTP request and response that carried a message, or that an event is part of, whole.
import { Button } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { fetchEvent } from "../../api/http";
import type { EventView, WholeEvent } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { Empty } from "../../parts/Empty";
import { bytes, clock, counted, duration, words } from "../../parts/format";
import { TextView } from "../../parts/TextView";
import { useRing, useRingVersion } from "../../state/events";
import { exchangeOf } from "./exchange";
import css from "./HttpExchange.module.css";

// A stream that stays open for hours has thousands of pieces: the first ones, and more when asked.
const AT_ONCE = 20;

type Whole = { whole: WholeEvent } | { problem: string } | null;

/** The event with all its headers and its whole body. */
function useWhole({ run_id, seq, is_cut, size_bytes }: EventView): Whole {
  const [state, setState] = useState<Whole>(null);
  const isNeeded = is_cut || size_bytes > 0;
  useEffect(() => {
    if (!isNeeded) return;
    let isGone = false;
    fetchEvent(run_id, seq).then(
      (whole) => !isGone && setState({ whole }),
      (thrown) => !isGone && setState({ problem: words(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [run_id, seq, isNeeded]);
  return state;
}

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

function Body({ part, whole }: { part: EventView; whole: Whole }) {
  const label = part.kind === "HttpRequestSent" ? "Request body" : "Response body";
  if (part.size_bytes === 0) return null;
  if (whole && "problem" in whole)
    return (
      <>
        <Callout>{whole.problem} What follows is how the body begins.</Callout>
        <TextView text={part.head} label={label} />
      </>
    );
  const got = whole?.whole;
  if (got && got.text === null)
    return (
      <p className="dim">{bytes(part.size_bytes)} that are no text; download them as bytes.</p>
    );
  return (
    <>
      <TextView text={got?.text ?? part.head} label={label} most={320} />
      {got?.text_is_cut && <p className="dim">Cut short; download the bytes for all of it.</p>}
    </>
  );
}

function Heading({ part }: { part: EventView }) {
  const { kind, method, status, detail, wall } = part;
  const after = typeof detail.elapsed_s === "number" && ` after ${duration(detail.elapsed_s)}`;
  return (
    <h4 className={`mono ${css.line}`}>
      {kind === "HttpRequestSent" && `${method} ${String(detail.url)}`}
      {kind === "HttpResponseReceived" && `${status} ${String(detail.reason)}`}
      {kind === "HttpBytesReceived" && `A piece of the body, ${bytes(part.size_bytes)}`}
      {kind === "HttpExchangeEnded" && (detail.error ? `Ended: ${String(detail.error)}` : "Ended")}
      <span className="dim">
        {" "}
        {clock(wall)}
        {after}
      </span>
    </h4>
  );
}

function Part({ part }: { part: EventView }) {
  const whole = useWhole(part);
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
      <Empty icon="traffic" title="No HTTP here">
        This was not carried by an HTTP exchange that is listed.
      </Empty>
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
          Show more of {counted(left, "part")}
        </Button>
      )}
    </div>
  );
}
