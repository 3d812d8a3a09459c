// What the cells of Traffic's table draw.
import type { MouseEvent } from "react";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { eventKey, usePins } from "../../events/pins";
import { truncate } from "../../values/format";
import css from "./cells.module.css";
import type { Direction } from "./eventLabel";
import type { RowContext, RowStatus } from "./rowFacts";
import type { WaterfallBar } from "./waterfall";

const ARROWS = { out: "→", in: "←", none: "·" } as const;
const SPOKEN = { out: "sent", in: "received", none: "" } as const;
const INDENT_PX = 14;
// Maximum indentation, so that the text stays visible.
const DEEPEST = 6;
// Maximum length of a name.
const DRAWN = 300;

/** Everything that the cells of one row need; equal fields, equal row. */
export interface DrawnRow {
  event: EventView;
  /** The answer that is shown in the same row. */
  end: EventView | undefined;
  context: RowContext;
  direction: Direction;
  name: string;
  called: string | null;
  /** The client of the gateway that it belongs to, or "". */
  client: string;
  server: string;
  status: RowStatus;
  size_bytes: number;
  elapsed_s: number | null;
  isPending: boolean;
  /** Time since the root of its tree; null for a root. */
  since: string | null;
  preview: string;
  bar: WaterfallBar | null;
  level: number;
  isOpen: boolean | undefined;
  /** How many identical notifications it stands for. */
  times: number;
  toggle(event: EventView): void;
}

function FoldToggle({ row: { event, isOpen, toggle } }: { row: DrawnRow }) {
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

/** The start of a row: how deep it is, what opens it, which way the message went. */
function RowStart({ row }: { row: DrawnRow }) {
  const { level, direction, context } = row;
  const depth = Math.min(level, DEEPEST) * INDENT_PX;
  return (
    <>
      {depth > 0 && <span style={{ display: "inline-block", width: depth }} />}
      {context.arrangement !== "wire" && <FoldToggle row={row} />}
      <span className={css.arrow} data-direction={direction}>
        <span aria-hidden="true">{ARROWS[direction]}</span>
        <span className="sr">{SPOKEN[direction]}</span>
      </span>{" "}
    </>
  );
}

function PinMark({ event }: { event: EventView }) {
  const label = usePins((state) => state.labels.get(eventKey(event)));
  if (label === undefined) return null;
  return (
    <span className={css.pin}>
      <Icon name="pin" size={11} />
      <span className="sr">pinned</span> {label}
    </span>
  );
}

export function NameCell({ row }: { row: DrawnRow }) {
  const { event, name, called, end, times } = row;
  return (
    <span className={css.name} data-status={String(event.status)}>
      <RowStart row={row} />
      <PinMark event={event} />
      {end && <PinMark event={end} />}
      {times > 1 && (
        <span className={css.times} title="The same notification, several times in a row">
          {times.toLocaleString("en")} ×{" "}
        </span>
      )}
      {name}
      {called !== null && " "}
      {called !== null && <span className={css.called}>{truncate(called, DRAWN)}</span>}
    </span>
  );
}

export function HttpMethodCell({ row }: { row: DrawnRow }) {
  const { event, name } = row;
  const isPart = event.kind.startsWith("Http") && event.kind !== "HttpRequestSent";
  return (
    <span className={css.name}>
      <RowStart row={row} />
      {event.kind === "HttpRequestSent" ? event.method : isPart ? name : "event"}
    </span>
  );
}

export function StatusCell({ status: { text, tone, title } }: { status: RowStatus }) {
  if (text === "ok")
    return (
      <span className={css.status} data-tone={tone}>
        <span aria-hidden="true">✓</span>
        <span className="sr">ok</span>
      </span>
    );
  return (
    <span className={css.status} data-tone={tone} title={title}>
      {text}
    </span>
  );
}

export const PreviewCell = ({ row }: { row: DrawnRow }) => (
  <span className={css.preview}>{row.preview}</span>
);

export function BarCell({ bar, tone }: { bar: WaterfallBar | null; tone: string }) {
  return (
    <span className={css.fall} aria-hidden="true">
      {bar && (
        <span
          className={css.bar}
          data-tone={tone}
          style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
        />
      )}
    </span>
  );
}
