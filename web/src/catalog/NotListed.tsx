// An item that is shown but is not in the server's list: misspelt, never listed, or removed since.
import { Callout } from "../components/Callout";
import type { List } from "../state/lists";
import { formatTime } from "../values/format";

export interface MissingItem {
  /** When a list without it was fetched; null if it was never listed. */
  since: number | null;
}

/** Whether a list is loaded completely, so that an absent item is really missing. */
export const isFullyLoaded = ({ summary, isLoading, error, fetched, count }: List): boolean =>
  summary !== null &&
  summary.fetched > 0 &&
  summary.asked === null &&
  summary.next_cursor === null &&
  error === null &&
  !isLoading &&
  fetched === summary.fetched &&
  count >= summary.count;

// By item key: since when it is missing, or null while it is listed.
const last = new Map<string, number | null>();

/** Whether the shown item is missing from its list. */
export function findMissing(list: List, key: string, isListed: boolean): MissingItem | null {
  if (isListed) last.set(key, null);
  if (isListed || !isFullyLoaded(list)) return null;
  if (last.get(key) === null) last.set(key, list.fetched);
  return { since: last.get(key) ?? null };
}

/** Says that an item is not in the server's list, but can still be tried. */
export function NotListed({ missing }: { missing: MissingItem | null }) {
  return (
    // No box of its own: while empty it must not separate its neighbors.
    <div role="status" style={{ display: "contents" }}>
      {missing && (
        <Callout tone="info">
          Not in the server's list.{" "}
          {missing.since !== null && `It was removed at ${formatTime(missing.since, false)}. `}
          You can try it anyway.
        </Callout>
      )}
    </div>
  );
}
