// One row of Traffic: time, direction, id, label, preview, size, duration.
import { type MouseEvent, memo } from "react";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { eventKey, usePins } from "../../events/pins";
import { isReply } from "../../state/eventLinks";
import { useRing } from "../../state/events";
import { formatBytes, formatDuration, formatTime, truncate } from "../../values/format";
import { durationOf } from "./eventDuration";
import { directionOf, eventLabel } from "./eventLabel";
import { previewOf, targetOf } from "./messagePreview";
import css from "./TrafficRow.module.css";
import { rootOf } from "./trafficTree";
import type { WaterfallBar } from "./waterfall";

const ARROWS = { out: "→", in: "←", none: "·" } as const;
const SPOKEN = { out: "sent", in: "received", none: "" } as const;
const INDENT_PX = 14;
// Maximum indentation, so that the text stays visible.
const DEEPEST = 6;
// Maximum length of the preview.
const DRAWN = 300;

const offset = (seconds: number): string =>
  seconds < 0.001 ? "+0 ms" : `+${formatDuration(seconds)}`;

interface Nesting {
  level: number;
  isOpen: boolean | undefined;
  toggle(event: EventView): void;
}

interface Props {
  event: EventView;
  withServer: boolean;
  /** Waterfall bar; undefined without that column. */
  bar?: WaterfallBar | null;
  nesting?: Nesting;
}

function FoldToggle({ event, isOpen, toggle }: Nesting & { event: EventView }) {
  const onClick = (click: MouseEvent): void => {
    click.stopPropagation();
    toggle(event);
  };
  if (isOpen === undefined) return <span className={css.twist} />;
  return (
    <span className={css.twist} data-open={isOpen} aria-hidden="true" onClick={onClick}>
      <Icon name="chevron" size={10} />
    </span>
  );
}

function WaterfallCell({ bar, tone }: { bar: WaterfallBar | null; tone: string }) {
  return (
    <span className={css.fall} aria-hidden="true">
      {bar && (
        <span
          className={css.bar}
          data-direction={tone}
          style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
        />
      )}
    </span>
  );
}

interface Drawn extends Props {
  elapsed_s: number | null;
  isPending: boolean;
  /** It belongs to a request, and is not the answer. */
  isNested: boolean;
  /** How a request ended that has no answer. */
  outcome: string | undefined;
  /** Seconds since the root event; null where the time of day is shown. */
  since: number | null;
  label: string | undefined;
  /** The item that the request names, also in the row of its answer. */
  called: string | null;
}

const isSameBar = (one?: WaterfallBar | null, other?: WaterfallBar | null): boolean =>
  one === other ||
  (one?.left === other?.left &&
    one?.width === other?.width &&
    one?.duration_s === other?.duration_s &&
    (one === undefined) === (other === undefined));

/** Most rows are unchanged when new ones scroll in. */
const isSame = (one: Drawn, other: Drawn): boolean =>
  one.event === other.event &&
  one.withServer === other.withServer &&
  one.elapsed_s === other.elapsed_s &&
  one.isPending === other.isPending &&
  one.isNested === other.isNested &&
  one.outcome === other.outcome &&
  one.since === other.since &&
  one.label === other.label &&
  one.called === other.called &&
  isSameBar(one.bar, other.bar) &&
  one.nesting?.level === other.nesting?.level &&
  one.nesting?.isOpen === other.nesting?.isOpen &&
  one.nesting?.toggle === other.nesting?.toggle;

export function TrafficRow(props: Props) {
  const { event, nesting } = props;
  const ring = useRing();
  const label = usePins((state) => state.labels.get(eventKey(event)));
  const { links } = ring;
  const since = nesting?.level ? event.mono - rootOf(event, links.parentOf).mono : null;
  const asked = isReply(event) ? (links.requestOf(event) ?? event) : event;
  return (
    <Cells
      {...props}
      elapsed_s={durationOf(event, ring)}
      isPending={links.isPending(event)}
      isNested={links.isNested(event)}
      outcome={links.outcomeOf(event)}
      since={since}
      label={label}
      called={targetOf(asked)}
    />
  );
}

const Cells = memo(function Cells(props: Drawn) {
  const { event, withServer, bar, nesting, elapsed_s, since, label, called, outcome } = props;
  const direction = directionOf(event);
  const isRequest = event.status === "request";
  const level = nesting?.level ?? 0;
  const isTold = nesting ? isRequest || event.kind === "QuestionOpened" : !isRequest;
  return (
    <>
      <span className={css.time}>{since === null ? formatTime(event.wall) : offset(since)}</span>
      <span className={css.arrow} data-direction={direction}>
        <span aria-hidden="true">{ARROWS[direction]}</span>
        <span className="sr">{SPOKEN[direction]}</span>
      </span>
      {withServer && <span className={`${css.server} cut`}>{event.server_id}</span>}
      <span className={css.id}>{event.request_id ?? ""}</span>
      <span
        className={`${css.what} cut`}
        data-depth={nesting ? undefined : Number(props.isNested)}
        data-status={String(event.status)}
        style={level ? { paddingLeft: Math.min(level, DEEPEST) * INDENT_PX } : undefined}
      >
        {nesting && <FoldToggle event={event} {...nesting} />}
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
        {event.malformed ?? truncate(previewOf(event), DRAWN)}
      </span>
      <span className={css.size}>{event.size_bytes > 0 ? formatBytes(event.size_bytes) : ""}</span>
      <span className={css.elapsed}>
        {isTold && elapsed_s !== null
          ? // In a tree, a call lasts until its last round.
            formatDuration((nesting && bar?.duration_s) ?? elapsed_s)
          : props.isPending
            ? "…"
            : ""}
      </span>
      {bar !== undefined && <WaterfallCell bar={bar} tone={direction} />}
    </>
  );
}, isSame);

export function toneOf(event: EventView): string | undefined {
  if (event.malformed || event.is_error || event.kind === "ReplyUnmatched") return "bad";
  if (event.status === "error" || (event.kind === "StateChanged" && event.detail.new === "ERROR"))
    return "bad";
  if (event.kind === "HttpResponseReceived" && Number(event.status) >= 400) return "bad";
  return event.kind === "LateReply" ? "wait" : undefined;
}
