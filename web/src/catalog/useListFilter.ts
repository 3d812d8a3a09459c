import { useEffect } from "react";
import { useDraft } from "../state/browserStorage";
import { type Item, matchingItems } from "../state/items";

/**
 * What a list is narrowed by. It is dropped when something is opened that it hides, by a link or by
 * the palette; what was open already when it was chosen may be hidden.
 *
 * @param none Narrows nothing; the same each time.
 * @param fits Whether an item is left by it; the same each time.
 */
export function usePersistedFilter<V, T>(
  name: string,
  none: V,
  opened: string | null,
  items: Item<T>[],
  fits: (item: Item<T>, value: V) => boolean,
): [V, (value: V) => void] {
  const [value, setValue] = useDraft(name, none);
  const [before, setBefore] = useDraft<string | null>(`${name}.opened`, null);
  useEffect(() => {
    if (opened === before) return;
    const item = items.find((one) => one.key === opened);
    // It may still be loading.
    if (opened !== null && !item) return;
    setBefore(opened);
    if (item && !fits(item, value)) setValue(none);
  }, [opened, before, items, value, none, fits, setBefore, setValue]);
  return [value, setValue];
}

const hasText = (item: Item<unknown>, text: string): boolean =>
  matchingItems([item], text).length > 0;

/** The search text of a list. */
export const useListFilter = (
  name: string,
  opened: string | null,
  items: Item<unknown>[],
): [string, (text: string) => void] =>
  usePersistedFilter<string, unknown>(`search.${name}`, "", opened, items, hasText);
