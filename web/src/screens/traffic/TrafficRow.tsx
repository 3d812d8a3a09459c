// One line of traffic: when, which way, what, how it begins, how large, how long.
import type { EventView } from "../../api/types";
import { bytes, clock, duration } from "../../parts/format";
import { useRing } from "../../state/events";
import { describe, directionOf } from "./describe";
import css from "./TrafficRow.module.css";

const ARROWS = { out: "→", in: "←", none: "·" } as const;
const SPOKEN = { out: "sent", in: "received", none: "" } as const;

export function TrafficRow({ event, withServer }: { event: EventView; withServer: boolean }) {
  const direction = directionOf(event);
  const joined = useRing().joined(event);
  const isRequest = event.status === "request";
  return (
    <>
      <span className={css.time}>{clock(event.wall)}</span>
      <span className={css.arrow} data-direction={direction}>
        <span aria-hidden="true">{ARROWS[direction]}</span>
        <span className="sr">{SPOKEN[direction]}</span>
      </span>
      {withServer && <span className={`${css.server} cut`}>{event.server_id}</span>}
      <span className={css.id}>{event.request_id ?? ""}</span>
      <span
        className={`${css.what} cut`}
        data-depth={joined.depth}
        data-status={String(event.status)}
      >
        {describe(event)}
      </span>
      <span className={`${css.head} cut`}>{event.malformed ?? event.head}</span>
      <span className={css.size}>{event.size_bytes > 0 ? bytes(event.size_bytes) : ""}</span>
      <span className={css.elapsed}>
        {!isRequest && joined.elapsed_s !== null
          ? duration(joined.elapsed_s)
          : isRequest && joined.elapsed_s === null
            ? "…"
            : ""}
      </span>
    </>
  );
}

export function toneOf(event: EventView): string | undefined {
  if (event.malformed || event.kind === "ReplyUnmatched") return "bad";
  if (event.status === "error" || (event.kind === "StateChanged" && event.detail.new === "ERROR"))
    return "bad";
  if (event.kind === "HttpResponseReceived" && Number(event.status) >= 400) return "bad";
  return event.kind === "LateReply" ? "wait" : undefined;
}
