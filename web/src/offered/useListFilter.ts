import { useEffect } from "react";
import { fitting, type Item } from "../state/items";
import { useDraft } from "../state/remembered";

/**
 * The text that a list is searched by. It is dropped when something is opened that it hides, by a
 * link or by the palette; what was open already when it was typed may be hidden.
 */
export function useListFilter(
  name: string,
  opened: string | null,
  items: Item<unknown>[],
): [string, (text: string) => void] {
  const [text, setText] = useDraft(`search.${name}`, "");
  const [before, setBefore] = useDraft<string | null>(`search.${name}.opened`, null);
  useEffect(() => {
    if (opened === before) return;
    const item = items.find((one) => one.key === opened);
    // It may still come.
    if (opened !== null && !item) return;
    setBefore(opened);
    if (item && fitting([item], text).length === 0) setText("");
  }, [opened, before, items, text, setBefore, setText]);
  return [text, setText];
}
