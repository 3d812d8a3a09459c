// What is new is brought into view, where it stands below what asked for it.
import { type RefObject, useEffect, useRef } from "react";

/** For an element that shows what has this key: another key than at first scrolls to it. */
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
