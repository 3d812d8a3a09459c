// Line diff of two messages.
import { useEffect, useState } from "react";
import { fetchEvent } from "../../api/http";
import type { EventView, WholeEvent } from "../../api/types";
import { Callout } from "../../components/Callout";
import { DiffLines } from "../../components/DiffLines";
import { type Diff, diffOf, type Hunk, hunksOf } from "../../values/diff";
import { indentJson, tryParseExactly } from "../../values/exactJson";
import { errorMessage, formatTime } from "../../values/format";
import { pretty } from "../../values/json";
import { eventLabel } from "./eventLabel";

type State = { diff: Diff; hunks: Hunk[]; isCut: boolean } | { problem: string } | null;

/** A message as lines. */
export function linesOf({ event, text, text_is_cut }: WholeEvent): string {
  // Truncated text is not valid JSON, and may be one long line.
  if (text && text_is_cut) return indentJson(text);
  const parsed = text === null ? null : tryParseExactly(text);
  if (parsed?.ok) return pretty(parsed.value);
  return text || pretty(event.detail);
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
  return <DiffLines before={nameOf(base)} after={nameOf(event)} {...state} />;
}
