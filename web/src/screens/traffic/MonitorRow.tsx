// One event in a single line for the monitor: time, direction, id, label, preview, size, duration.
import { memo } from "react";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { eventKey, usePins } from "../../events/pins";
import { isReply } from "../../state/eventLinks";
import { useRing } from "../../state/events";
import { formatBytes, formatDuration, formatTime, truncate } from "../../values/format";
import { durationOf } from "./eventDuration";
import { directionOf, eventLabel } from "./eventLabel";
import css from "./MonitorRow.module.css";
import { previewOf, targetOf } from "./messagePreview";

const ARROWS = { out: "→", in: "←", none: "·" } as const;
const SPOKEN = { out: "sent", in: "received", none: "" } as const;
// Maximum length of a name.
const DRAWN = 300;

interface Drawn {
  event: EventView;
  elapsed_s: number | null;
  isPending: boolean;
  /** It belongs to a request, and is not the answer. */
  isNested: boolean;
  /** How a request ended that has no answer. */
  outcome: string | undefined;
  label: string | undefined;
  /** The item that the request names, also in the row of its answer. */
  called: string | null;
}

export function MonitorRow({ event }: { event: EventView }) {
  const ring = useRing();
  const label = usePins((state) => state.labels.get(eventKey(event)));
  const { links } = ring;
  const asked = isReply(event) ? (links.requestOf(event) ?? event) : event;
  return (
    <Cells
      event={event}
      elapsed_s={durationOf(event, ring)}
      isPending={links.isPending(event)}
      isNested={links.isNested(event)}
      outcome={links.outcomeOf(event)}
      label={label}
      called={targetOf(asked)}
    />
  );
}

const Cells = memo(function Cells(props: Drawn) {
  const { event, elapsed_s, label, called, outcome } = props;
  const direction = directionOf(event);
  const isTold = event.status !== "request" && elapsed_s !== null;
  return (
    <>
      <span className={css.time}>{formatTime(event.wall)}</span>
      <span className={css.arrow} data-direction={direction}>
        <span aria-hidden="true">{ARROWS[direction]}</span>
        <span className="sr">{SPOKEN[direction]}</span>
      </span>
      <span className={css.id}>{event.request_id ?? ""}</span>
      <span
        className={`${css.what} cut`}
        data-depth={Number(props.isNested)}
        data-status={String(event.status)}
      >
        {eventLabel(event)}
        {called !== null && " "}
        {called !== null && <span className={css.called}>{truncate(called, DRAWN)}</span>}
      </span>
      {outcome && <span className={css.ended}>{outcome}</span>}
      <span className={`${css.head} cut`}>
        {label !== undefined && (
          <span className={css.pin}>
            <Icon name="pin" size={11} />
            <span className="sr">pinned</span> {label}
          </span>
        )}
        {previewOf(event) || event.malformed}
      </span>
      <span className={css.size}>{event.size_bytes > 0 ? formatBytes(event.size_bytes) : ""}</span>
      <span className={css.elapsed}>
        {isTold ? formatDuration(elapsed_s) : props.isPending ? "…" : ""}
      </span>
    </>
  );
});

export function toneOf(event: EventView): string | undefined {
  if (event.malformed || event.is_error || event.kind === "ReplyUnmatched") return "bad";
  if (event.is_expected) return undefined;
  if (event.status === "error" || (event.kind === "StateChanged" && event.detail.new === "ERROR"))
    return "bad";
  if (event.kind === "HttpResponseReceived" && Number(event.status) >= 400) return "bad";
  return event.kind === "LateReply" ? "wait" : undefined;
}
