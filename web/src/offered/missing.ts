// What is looked at, and is not in the server's list: misspelt, never listed, or removed since.
import type { List } from "../state/lists";

export interface Missing {
  /** When a list came that no longer had it; null if none of those before had it, either. */
  since: number | null;
}

/** Whether all of a list is here: what it does not have now is not in it. */
export const isWhole = ({ summary, isLoading, error, fetched, count }: List): boolean =>
  summary !== null &&
  summary.fetched > 0 &&
  summary.asked === null &&
  summary.next_cursor === null &&
  error === null &&
  !isLoading &&
  fetched === summary.fetched &&
  count >= summary.count;

// By what was looked at: since when it is missing, or null while it is listed.
const last = new Map<string, number | null>();

/** Whether something that is looked at, by a key of its own, is missing from a list. */
export function missingFrom(list: List, key: string, isListed: boolean): Missing | null {
  if (isListed) last.set(key, null);
  if (isListed || !isWhole(list)) return null;
  if (last.get(key) === null) last.set(key, list.fetched);
  return { since: last.get(key) ?? null };
}
