// Which items of a list are new or changed since the server changed it, until they are opened.
import { createContext, useContext, useEffect, useMemo } from "react";
import type { ListChangeView, ListKind } from "../api/types";
import { useDraft } from "../state/browserStorage";
import type { LoadedList } from "../state/lists";
import css from "./ChangeMark.module.css";

type Word = "new" | "changed";
type Marks = ReadonlyMap<string, Word>;

/** Items that were opened since the change at this time. */
interface Opened {
  at: number;
  keys: string[];
}

const NONE: Marks = new Map();
const MarksContext = createContext(NONE);
export const ChangeMarksProvider = MarksContext.Provider;

function marksOf(change: ListChangeView | null, opened: Opened): Marks {
  if (!change) return NONE;
  const marks = new Map<string, Word>();
  for (const name of change.added.names) marks.set(name, "new");
  for (const name of change.changed.names) marks.set(name, "changed");
  if (opened.at === change.at) for (const key of opened.keys) marks.delete(key);
  return marks;
}

export function useChangeMarks(
  serverId: string,
  kind: ListKind,
  list: LoadedList,
  chosen: string | null,
): Marks {
  const [opened, setOpened] = useDraft<Opened>(`opened.${kind}.${serverId}`, { at: 0, keys: [] });
  const { change } = list;
  const marks = useMemo(() => marksOf(change, opened), [change, opened]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes while it is open keeps its mark
  useEffect(() => {
    if (chosen === null || !change || !marks.has(chosen)) return;
    const before = opened.at === change.at ? opened.keys : [];
    setOpened({ at: change.at, keys: [...before, chosen] });
  }, [chosen]);
  return marks;
}

export function ChangeMark({ of }: { of: string }) {
  const word = useContext(MarksContext).get(of);
  return word ? <span className={css.mark}>{word}</span> : null;
}
