// The result of a call beside that of an earlier one, line by line.
import { Select } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import type { CallView } from "../api/types";
import { Callout } from "../components/Callout";
import { DiffLines } from "../components/DiffLines";
import { type Diff, diffOf, type Hunk, hunksOf } from "../values/diff";
import { indentJson } from "../values/exactJson";
import { formatTime } from "../values/format";
import { pretty } from "../values/json";
import { useCallResult } from "./useCallResult";

interface Compared {
  diff: Diff;
  hunks: Hunk[];
}

const nameOf = (call: CallView): string => {
  const id = call.request_id === null ? "" : ` · id ${call.request_id}`;
  return `${formatTime(call.started, false)}${id}`;
};

/** A result as lines; nothing until it is there. */
function useLines(call: CallView): { lines: string | null; problem: string | null } {
  const { value, text, problem } = useCallResult(call);
  const lines = useMemo(() => {
    if (value === undefined) return null;
    return text === null ? pretty(value) : indentJson(text);
  }, [value, text]);
  return { lines, problem };
}

/** Computed outside of rendering: large results take a moment. */
function useDiff(before: string | null, after: string | null): Compared | null {
  const [state, setState] = useState<Compared | null>(null);
  useEffect(() => {
    setState(null);
    if (before === null || after === null) return;
    const timer = setTimeout(() => {
      const diff = diffOf(before, after);
      setState({ diff, hunks: hunksOf(diff.lines) });
    });
    return () => clearTimeout(timer);
  }, [before, after]);
  return state;
}

export function CompareResults({ call, others }: { call: CallView; others: CallView[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const other = others.find(({ call_id }) => call_id === chosen) ?? others[0] ?? call;
  const mine = useLines(call);
  const theirs = useLines(other);
  const state = useDiff(theirs.lines, mine.lines);
  return (
    <div className="stack">
      <Select
        label="Compare with the result of"
        maw="var(--form-width)"
        allowDeselect={false}
        comboboxProps={{ keepMounted: false }}
        data={others.map((one) => ({ value: one.call_id, label: nameOf(one) }))}
        value={other.call_id}
        onChange={setChosen}
      />
      {theirs.problem ? (
        <Callout>{theirs.problem}</Callout>
      ) : state === null ? (
        <p className="dim">Comparing…</p>
      ) : (
        <DiffLines
          before={nameOf(other)}
          after={nameOf(call)}
          {...state}
          isCut={state.diff.is_cut}
        />
      )}
    </div>
  );
}
