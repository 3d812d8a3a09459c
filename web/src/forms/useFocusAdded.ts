import { type RefObject, useEffect, useRef } from "react";
import { focusableFields } from "../components/focusableFields";

interface FocusNew {
  /** Ref for the element around the Add button. */
  place: RefObject<HTMLDivElement | null>;
  /** Something is about to be added. */
  begin(): void;
}

/** Focuses a newly added item. */
export function useFocusAdded(): FocusNew {
  const place = useRef<HTMLDivElement>(null);
  const former = useRef<Set<Element> | null>(null);
  const fields = (): HTMLElement[] => focusableFields(place.current?.parentElement);
  useEffect(() => {
    if (former.current === null) return;
    const { activeElement } = document;
    const hasStayed = activeElement === document.body || place.current?.contains(activeElement);
    const added = fields().find((field) => !former.current?.has(field));
    if (added && hasStayed) added.focus();
    if (added || !hasStayed) former.current = null;
  });
  return {
    place,
    begin: () => {
      former.current = new Set(fields());
    },
  };
}
