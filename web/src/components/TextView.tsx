// Text of any size, with search. Long texts are windowed, with long lines split into rows.
import { Switch } from "@mantine/core";
import {
  type ReactNode,
  useDeferredValue,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { usePreference } from "../state/browserStorage";
import { type Language, spansOf, type Token } from "../values/highlight";
import {
  findAll,
  isContinued,
  lastIndexAtMost,
  MAX_MATCHES,
  rowAt,
  rowStarts,
  splitAtMatches,
} from "../values/textRows";
import { copySelection } from "./copySelection";
import { FindBar, MIN_LENGTH, nextMatch } from "./FindBar";
import css from "./TextView.module.css";
import { useColumns } from "./useColumns";
import { useRowWindow } from "./useRowWindow";
import { useTokens } from "./useTokens";

const ROW_PX = 18;
// Up to this size the browser lays out text without a noticeable pause.
const SMALL = 100_000;
// Highlighted text has thousands of elements, so the limit is lower.
const SMALL_COLOURED = 30_000;
// A text that fits on the screen needs no search.
const SEARCHED = 2_000;
const NOWHERE: number[] = [];
const TITLES: Partial<Record<Token["kind"], string>> = {
  masked: "Masked",
  byte: "A byte that is not text",
};

interface Props {
  text: string;
  label: string;
  most?: number;
  /** Language for syntax highlighting. */
  language?: Language | null;
  /** Marked parts, in order, instead of syntax highlighting. */
  marks?: Token[];
}

/** How the text is rendered: wrapping, tokens and search matches. */
interface TextStyle {
  isWrapped: boolean;
  tokens: Token[];
  found: Matches;
}

/** Search matches: their positions, their length, and the current one. */
interface Matches {
  places: number[];
  length: number;
  current: number;
}

interface Part {
  text: string;
  start: number;
  end: number;
}

/** A part of the text with syntax highlighting. */
export function HighlightedText({ text, start, end, tokens }: Part & { tokens: Token[] }) {
  if (tokens.length === 0) return text.slice(start, end);
  return spansOf(text, start, end, tokens).map((span) =>
    span.kind === null ? (
      span.text
    ) : (
      <span key={span.start} className={css[span.kind]} title={TITLES[span.kind]}>
        {span.text}
      </span>
    ),
  );
}

/** A part of the text with search matches marked. */
function MarkedText({ text, start, end, tokens, found }: Part & Omit<TextStyle, "isWrapped">) {
  const pieces = splitAtMatches(text, start, end, found.places, found.length);
  return pieces.map((piece): ReactNode => {
    const of = { text, start: piece.start, end: piece.start + piece.text.length, tokens };
    if (piece.match < 0) return <HighlightedText key={piece.start} {...of} />;
    const isCurrent = piece.match === found.current;
    return (
      <mark key={piece.start} className={css.mark} data-current={isCurrent || undefined}>
        <HighlightedText {...of} />
      </mark>
    );
  });
}

/** Scroll to the current match; returns whether it is rendered. */
function showCurrent(scroller: HTMLElement | null): boolean {
  const mark = scroller?.querySelector("mark[data-current]");
  mark?.scrollIntoView({ block: "nearest", inline: "nearest" });
  return mark != null;
}

function LongText({ text, label, most = 480, isWrapped, tokens, found }: Props & TextStyle) {
  const { box, columns } = useColumns(isWrapped);
  const starts = useMemo(
    () => (columns === null ? NOWHERE : rowStarts(text, columns)),
    [text, columns],
  );
  const window = useRowWindow(starts.length, ROW_PX, false);
  const { scroller } = window;
  const topPlace = useRef(0);
  // Keep the top line in place when the wrapping changes.
  useLayoutEffect(() => {
    const row = lastIndexAtMost(starts, topPlace.current);
    if (scroller.current && row >= 0) scroller.current.scrollTop = row * ROW_PX;
  }, [starts, scroller]);
  const place = found.places[found.current];
  const isSought = useRef(false);
  useLayoutEffect(() => {
    if (place === undefined) return;
    const element = scroller.current;
    if (!element) return;
    // Centered, so that its context can be read too.
    element.scrollTop = lastIndexAtMost(starts, place) * ROW_PX - element.clientHeight / 2;
    isSought.current = true;
  }, [place, starts, scroller]);
  // Its row may be rendered only some renders after the scroll.
  useLayoutEffect(() => {
    if (isSought.current && showCurrent(scroller.current)) isSought.current = false;
  });
  const rows = Array.from(
    { length: Math.max(0, window.last - window.first) },
    (_, index) => window.first + index,
  );
  return (
    <div
      ref={scroller}
      className={css.long}
      style={{ height: Math.min(most, window.height + 16) }}
      onScroll={({ currentTarget }) => {
        topPlace.current = starts[Math.floor(currentTarget.scrollTop / ROW_PX)] ?? 0;
        window.onScroll();
      }}
      onCopy={(event) => copySelection(event, text)}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <div ref={box} style={{ height: window.height }}>
        <div style={{ transform: `translateY(${window.first * ROW_PX}px)` }}>
          {rows.map((row) => {
            const part = rowAt(text, starts, row);
            return (
              <div
                key={row}
                className={css.line}
                data-start={part.start}
                data-continued={isContinued(text, part.start) || undefined}
              >
                <MarkedText text={text} {...part} tokens={tokens} found={found} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function ShortText({ text, label, most, isWrapped, tokens, found }: Props & TextStyle) {
  const section = useRef<HTMLElement>(null);
  const { current, places } = found;
  useLayoutEffect(() => {
    if (places[current] !== undefined) showCurrent(section.current);
  }, [current, places]);
  return (
    <section
      ref={section}
      className={css.text}
      data-unwrapped={!isWrapped || undefined}
      style={{ maxHeight: most }}
      aria-label={label}
      tabIndex={0}
    >
      <MarkedText text={text} start={0} end={text.length} tokens={tokens} found={found} />
    </section>
  );
}

const matchLabel = ({ places, current }: Matches): string => {
  const count = `${places.length.toLocaleString("en")}${places.length >= MAX_MATCHES ? "+" : ""}`;
  return places.length ? `${(current + 1).toLocaleString("en")} of ${count}` : "0 found";
};

export function TextView(props: Props) {
  const { text, language = null, marks } = props;
  const coloured = useTokens(text, marks ? null : language);
  const tokens = marks ?? coloured;
  const [wanted, setWanted] = useState("");
  const needle = useDeferredValue(wanted);
  const [current, setCurrent] = useState(0);
  const places = useMemo(
    () => (needle.length >= MIN_LENGTH ? findAll(text, needle) : NOWHERE),
    [text, needle],
  );
  const [wrap, setWrap] = usePreference("text.wrap", true);
  const hasTools = text.length > SEARCHED;
  const found: Matches = {
    places,
    length: needle.length,
    current: Math.min(current, places.length - 1),
  };
  const drawn: TextStyle = { isWrapped: wrap || !hasTools, tokens, found };
  return (
    <div className={css.view}>
      {hasTools && (
        <div className={css.tools}>
          <FindBar
            label="Search in the text"
            text={wanted}
            onText={(next) => {
              setWanted(next);
              setCurrent(0);
            }}
            found={matchLabel(found)}
            canStep={places.length > 0}
            step={(by) => setCurrent(nextMatch(found.current, by, places.length))}
          />
          <Switch
            size="xs"
            label="Wrap"
            checked={wrap}
            onChange={(event) => setWrap(event.currentTarget.checked)}
          />
        </div>
      )}
      {text.length > (tokens.length ? SMALL_COLOURED : SMALL) ? (
        <LongText {...props} {...drawn} />
      ) : (
        <ShortText {...props} {...drawn} />
      )}
    </div>
  );
}
