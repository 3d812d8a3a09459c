import { type RefObject, useEffect, useRef } from "react";
import { focusableFields } from "../components/focusableFields";

const WRONG = '[aria-invalid="true"], .mantine-InputWrapper-error, .mantine-Checkbox-error';

function focusBad(within: HTMLElement | null): void {
  const wrong = within?.querySelector<HTMLElement>(WRONG);
  const place = wrong?.closest(".rjsf-field") ?? wrong?.parentElement;
  const field = wrong?.matches('[aria-invalid="true"]') ? wrong : focusableFields(place)[0];
  const target = field ?? place?.querySelector("button");
  target?.focus({ preventScroll: true });
  // With its label above and the error below.
  (place ?? within?.querySelector("[data-findings]"))?.scrollIntoView?.({ block: "nearest" });
}

/** Ref for a form: after each refused attempt the first invalid field is focused. */
export function useFocusInvalid(refused: number): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const former = useRef(refused);
  useEffect(() => {
    if (former.current === refused) return;
    former.current = refused;
    // The form marks invalid fields after rendering.
    const frame = requestAnimationFrame(() => focusBad(place.current));
    return () => cancelAnimationFrame(frame);
  }, [refused]);
  return place;
}
