// Scrolls new content into view.
import { type RefObject, useEffect, useRef } from "react";

/**
 * For an element that shows the item with this key: a changed key scrolls to it, and so does the
 * first one if the address names it.
 */
export function useScrollIntoView(
  key: string | undefined,
  isNamed: boolean,
): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const former = useRef(isNamed ? undefined : key);
  useEffect(() => {
    if (key !== undefined && former.current !== key)
      place.current?.scrollIntoView?.({ block: "nearest" });
    former.current = key;
  }, [key]);
  return place;
}
