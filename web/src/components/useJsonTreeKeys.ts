// The keys of a JSON tree: arrows move and open, `c` copies the value, `p` its path, `*` expands all
// below, Enter shows the whole of a long text.
import type { KeyboardEvent } from "react";
import type { JsonRow } from "../values/jsonRows";
import { copyValue, isWide, type RowActions } from "./JsonTreeRow";

interface Tree {
  rows: JsonRow[];
  /** The index of the chosen row, -1 for none. */
  at: number;
  toggle(row: JsonRow): void;
  choose(index: number): void;
  actions: RowActions;
}

/** The index that a key moves to, or null if the key does not move. */
function moved({ rows, at }: Tree, key: string): number | null {
  const row = rows[at];
  switch (key) {
    case "ArrowDown":
      return at + 1;
    case "ArrowUp":
      return at - 1;
    case "Home":
      return 0;
    case "End":
      return rows.length - 1;
    case "ArrowRight":
      return row?.isOpen && row.size > 0 ? at + 1 : null;
    case "ArrowLeft":
      return row && !row.isOpen
        ? rows.findLastIndex((one, index) => index < at && one.depth < row.depth)
        : null;
    default:
      return null;
  }
}

export function useJsonTreeKeys(tree: Tree): (event: KeyboardEvent) => void {
  return (event) => {
    const { key } = event;
    const row = tree.rows[tree.at];
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey);
    const next = moved(tree, key);
    if (next !== null) tree.choose(next);
    else if (row && key === "ArrowRight" && row.size > 0) tree.toggle(row);
    else if (row && key === "ArrowLeft") tree.toggle(row);
    else if (row && key === "c" && isPlain) copyValue(row);
    else if (row && key === "p" && isPlain) tree.actions.copyPath(row);
    else if (row && key === "*" && row.size > 0) tree.actions.expandAll(row);
    else if (row && key === "Enter" && isPlain && isWide(row.value)) tree.actions.show(row);
    else return;
    event.preventDefault();
  };
}
