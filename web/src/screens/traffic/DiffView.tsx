// Line diff of two messages.
import { useEffect, useState } from "react";
import { fetchEvent } from "../../api/http";
import type { EventView, WholeEvent } from "../../api/types";
import { Callout } from "../../components/Callout";
import { indentJson, tryParseExactly } from "../../values/exactJson";
import { errorMessage, formatTime, pluralize } from "../../values/format";
import { pretty } from "../../values/json";
import css from "./DiffView.module.css";
import { type Diff, diffOf, type Hunk, hunksOf } from "./diff";
import { eventLabel } from "./eventLabel";

// Maximum of rendered lines.
const MOST_DRAWN = 2_000;

type State = { diff: Diff; hunks: Hunk[]; isCut: boolean } | { problem: string } | null;

/** A message as lines. */
export function linesOf({ event, text, text_is_cut }: WholeEvent): string {
  // Truncated text is not valid JSON, and may be one long line.
  if (text && text_is_cut) return indentJson(text);
  const parsed = text === null ? null : tryParseExactly(text);
  if (parsed?.ok) return pretty(parsed.value);
  return text || pretty(event.detail);
}

function drawn(hunks: Hunk[]): Hunk[] {
  let left = MOST_DRAWN;
  return hunks.flatMap(({ skipped, lines }) => {
    if (left <= 0) return [];
    const some = lines.slice(0, left);
    left -= some.length;
    return [{ skipped, lines: some }];
  });
}

/** Computed outside of rendering: large messages take a moment. */
function useDiff(base: EventView, event: EventView): State {
  const [state, setState] = useState<State>(null);
  useEffect(() => {
    let isGone = false;
    setState(null);
    const both = [base, event].map(({ run_id, seq }) => fetchEvent(run_id, seq));
    Promise.all(both).then(
      (wholes) => {
        setTimeout(() => {
          if (isGone) return;
          const [before = "", after = ""] = wholes.map(linesOf);
          const diff = diffOf(before, after);
          const isCut = diff.is_cut || wholes.some((whole) => whole.text_is_cut);
          setState({ diff, hunks: hunksOf(diff.lines), isCut });
        });
      },
      (thrown) => !isGone && setState({ problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [base, event]);
  return state;
}

const nameOf = (event: EventView): string =>
  `${eventLabel(event)}${event.request_id === null ? "" : ` ${event.request_id}`} of ${formatTime(event.wall)}`;

export function DiffView({ base, event }: { base: EventView; event: EventView }) {
  const state = useDiff(base, event);
  if (state === null) return <p className="dim">Comparing…</p>;
  if ("problem" in state) return <Callout>{state.problem}</Callout>;
  const { diff, hunks, isCut } = state;
  const shown = drawn(hunks);
  const count = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return (
    <div>
      <p className={css.summary} role="status">
        <span>
          <span aria-hidden="true">−</span>
          <span className="sr">Without: </span> {nameOf(base)}
        </span>
        <span>
          <span aria-hidden="true">+</span>
          <span className="sr">With: </span> {nameOf(event)}
        </span>
        <span className="dim">
          {hunks.length
            ? `${pluralize(diff.removed, "line")} removed, ${pluralize(diff.added, "line")} added`
            : isCut
              ? "No difference in what was compared"
              : "No difference"}
        </span>
      </p>
      {hunks.length > 0 && (
        <section className={css.lines} aria-label="Differences">
          {shown.map((hunk, index) => (
            <div key={index}>
              {hunk.skipped > 0 && (
                <div className={css.skipped}>{pluralize(hunk.skipped, "equal line")}</div>
              )}
              {hunk.lines.map((line, at) => (
                <div key={at} className={css.line} data-sign={line.sign}>
                  <span className={css.sign}>{line.sign}</span>
                  <span>{line.text}</span>
                </div>
              ))}
            </div>
          ))}
        </section>
      )}
      {count > MOST_DRAWN && (
        <p className="dim">The first {pluralize(MOST_DRAWN, "line")} are shown.</p>
      )}
      {isCut && (
        <p className="dim">Only the beginnings were compared because the messages are too large.</p>
      )}
    </div>
  );
}
