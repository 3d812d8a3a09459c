// One line of traffic: when, which way, what, how it begins, how large, how long.
import type { MouseEvent } from "react";
import type { EventView } from "../../api/types";
import { bytes, clock, duration } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { useRing } from "../../state/events";
import { describe, directionOf } from "./describe";
import { keyOf, usePins } from "./pins";
import css from "./TrafficRow.module.css";
import { rootOf } from "./tree";
import type { Bar } from "./useAxis";

const ARROWS = { out: "→", in: "←", none: "·" } as const;
const SPOKEN = { out: "sent", in: "received", none: "" } as const;
const INDENT_PX = 14;
// Deeper rows are drawn at this depth, so that their text stays on the screen.
const DEEPEST = 6;

const offset = (seconds: number): string => (seconds < 0.001 ? "+0 ms" : `+${duration(seconds)}`);

interface Nesting {
  level: number;
  isOpen: boolean | undefined;
  toggle(): void;
}

interface Props {
  event: EventView;
  withServer: boolean;
  /** How long it took beside the others; undefined where no such column is shown. */
  bar?: Bar | null;
  nesting?: Nesting;
}

function Twist({ isOpen, toggle }: Nesting) {
  const onClick = (click: MouseEvent): void => {
    click.stopPropagation();
    toggle();
  };
  if (isOpen === undefined) return <span className={css.twist} />;
  return (
    <span className={css.twist} data-open={isOpen} aria-hidden="true" onClick={onClick}>
      <Icon name="chevron" size={10} />
    </span>
  );
}

function Fall({ bar, tone }: { bar: Bar | null; tone: string }) {
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

export function TrafficRow({ event, withServer, bar, nesting }: Props) {
  const direction = directionOf(event);
  const ring = useRing();
  const joined = ring.joined(event);
  const label = usePins((state) => state.labels.get(keyOf(event)));
  const isRequest = event.status === "request";
  const level = nesting?.level ?? 0;
  const isTold = nesting ? isRequest || event.kind === "QuestionOpened" : !isRequest;
  return (
    <>
      <span className={css.time}>
        {level ? offset(event.mono - rootOf(event, ring.parentOf).mono) : clock(event.wall)}
      </span>
      <span className={css.arrow} data-direction={direction}>
        <span aria-hidden="true">{ARROWS[direction]}</span>
        <span className="sr">{SPOKEN[direction]}</span>
      </span>
      {withServer && <span className={`${css.server} cut`}>{event.server_id}</span>}
      <span className={css.id}>{event.request_id ?? ""}</span>
      <span
        className={`${css.what} cut`}
        data-depth={nesting ? undefined : joined.depth}
        data-status={String(event.status)}
        style={level ? { paddingLeft: Math.min(level, DEEPEST) * INDENT_PX } : undefined}
      >
        {nesting && <Twist {...nesting} />}
        {describe(event)}
      </span>
      <span className={`${css.head} cut`}>
        {label !== undefined && (
          <span className={css.pin}>
            <Icon name="pin" size={11} />
            <span className="sr">pinned</span> {label}
          </span>
        )}
        {event.malformed ?? event.head}
      </span>
      <span className={css.size}>{event.size_bytes > 0 ? bytes(event.size_bytes) : ""}</span>
      <span className={css.elapsed}>
        {isTold && joined.elapsed_s !== null
          ? // In a tree, a call lasts until its last round.
            duration((nesting && bar?.duration_s) ?? joined.elapsed_s)
          : isRequest && joined.elapsed_s === null
            ? "…"
            : ""}
      </span>
      {bar !== undefined && <Fall bar={bar} tone={direction} />}
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
