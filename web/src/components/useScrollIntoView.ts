// Scrolls new content into view.
import { type RefObject, useEffect, useRef } from "react";

/** For an element that shows the item with this key: a changed key scrolls to it. */
export function useScrollIntoView(key: string | undefined): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const former = useRef(key);
  useEffect(() => {
    if (key !== undefined && former.current !== key)
      place.current?.scrollIntoView?.({ block: "nearest" });
    former.current = key;
  }, [key]);
  return place;
}
