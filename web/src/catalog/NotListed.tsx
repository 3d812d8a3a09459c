// An item that is shown but is not in the server's list: misspelt, never listed, or removed since.
import { Callout } from "../components/Callout";
import type { List } from "../state/lists";
import { formatTime } from "../values/format";

export interface MissingItem {
  /** When a list came that no longer had it; null if none of those before had it, either. */
  since: number | null;
}

/** Whether all of a list is here: what it does not have now is not in it. */
export const isFullyLoaded = ({ summary, isLoading, error, fetched, count }: List): boolean =>
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
export function findMissing(list: List, key: string, isListed: boolean): MissingItem | null {
  if (isListed) last.set(key, null);
  if (isListed || !isFullyLoaded(list)) return null;
  if (last.get(key) === null) last.set(key, list.fetched);
  return { since: last.get(key) ?? null };
}

/** Says that something is not in the server's list; it can be tried all the same. */
export function NotListed({ missing }: { missing: MissingItem | null }) {
  return (
    // Without a box of its own: while it is empty it must not part what is around it.
    <div role="status" style={{ display: "contents" }}>
      {missing && (
        <Callout tone="info">
          Not in the server's list.{" "}
          {missing.since !== null && `It was removed at ${formatTime(missing.since, false)}. `}
          You can try it all the same.
        </Callout>
      )}
    </div>
  );
}
