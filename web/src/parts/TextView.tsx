// Text of any size, with search: drawn line by line when it is long, cut into pieces where a line
// is endless.
import {
  type ReactNode,
  useDeferredValue,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { FindBar, SHORTEST, stepped } from "./FindBar";
import css from "./TextView.module.css";
import { findAll, lastNotAbove, MOST_FOUND, piecesOf, rowAt, rowStarts } from "./textRows";
import { useWindow } from "./useWindow";

const ROW_PX = 18;
// Up to here the browser lays text out by itself without a pause.
const SMALL = 100_000;
// A text that fits on the screen needs no search.
const SEARCHED = 2_000;
const NOWHERE: number[] = [];

interface Props {
  text: string;
  label: string;
  most?: number;
}

/** What is searched for: where it was found, and which of these places is shown. */
interface Found {
  places: number[];
  length: number;
  current: number;
}

/** A part of the text, with what was found in it marked. */
function Marked({
  text,
  start,
  end,
  found,
}: {
  text: string;
  start: number;
  end: number;
  found: Found;
}) {
  const pieces = piecesOf(text, start, end, found.places, found.length);
  return pieces.map((piece): ReactNode => {
    if (piece.match < 0) return piece.text;
    const isCurrent = piece.match === found.current;
    return (
      <mark key={piece.start} className={css.mark} data-current={isCurrent || undefined}>
        {piece.text}
      </mark>
    );
  });
}

const showCurrent = (scroller: HTMLElement | null): void =>
  scroller
    ?.querySelector("mark[data-current]")
    ?.scrollIntoView({ block: "nearest", inline: "nearest" });

function Windowed({ text, label, most = 480, found }: Props & { found: Found }) {
  const starts = useMemo(() => rowStarts(text), [text]);
  const window = useWindow(starts.length, ROW_PX, false);
  const { scroller } = window;
  const place = found.places[found.current];
  useLayoutEffect(() => {
    if (place === undefined) return;
    const element = scroller.current;
    if (!element) return;
    // In the middle, so that what is around it can be read too.
    element.scrollTop = lastNotAbove(starts, place) * ROW_PX - element.clientHeight / 2;
    // The row is drawn once the scrolling has been noticed.
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() => showCurrent(scroller.current)),
    );
    return () => cancelAnimationFrame(frame);
  }, [place, starts, scroller]);
  const rows = Array.from(
    { length: Math.max(0, window.last - window.first) },
    (_, index) => window.first + index,
  );
  return (
    <div
      ref={scroller}
      className={css.long}
      style={{ height: Math.min(most, window.height + 16) }}
      onScroll={window.onScroll}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <div style={{ height: window.height }}>
        <div style={{ transform: `translateY(${window.first * ROW_PX}px)` }}>
          {rows.map((row) => (
            <div key={row} className={css.line}>
              <Marked text={text} {...rowAt(text, starts, row)} found={found} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Whole({ text, label, most, found }: Props & { found: Found }) {
  const section = useRef<HTMLElement>(null);
  const { current, places } = found;
  useLayoutEffect(() => {
    if (places[current] !== undefined) showCurrent(section.current);
  }, [current, places]);
  return (
    <section
      ref={section}
      className={css.text}
      style={{ maxHeight: most }}
      aria-label={label}
      tabIndex={0}
    >
      <Marked text={text} start={0} end={text.length} found={found} />
    </section>
  );
}

const counted = ({ places, current }: Found): string => {
  const count = `${places.length.toLocaleString("en")}${places.length >= MOST_FOUND ? "+" : ""}`;
  return places.length ? `${(current + 1).toLocaleString("en")} of ${count}` : "0 found";
};

export function TextView(props: Props) {
  const { text } = props;
  const [wanted, setWanted] = useState("");
  const needle = useDeferredValue(wanted);
  const [current, setCurrent] = useState(0);
  const places = useMemo(
    () => (needle.length >= SHORTEST ? findAll(text, needle) : NOWHERE),
    [text, needle],
  );
  const found: Found = {
    places,
    length: needle.length,
    current: Math.min(current, places.length - 1),
  };
  return (
    <div className={css.view}>
      {text.length > SEARCHED && (
        <FindBar
          label="Search in the text"
          text={wanted}
          onText={(next) => {
            setWanted(next);
            setCurrent(0);
          }}
          found={counted(found)}
          canStep={places.length > 0}
          step={(by) => setCurrent(stepped(found.current, by, places.length))}
        />
      )}
      {text.length > SMALL ? (
        <Windowed {...props} found={found} />
      ) : (
        <Whole {...props} found={found} />
      )}
    </div>
  );
}
