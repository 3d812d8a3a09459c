// Moves the focus after navigation from the palette: to the first field of an item, else its Run
// button; or to the list or heading of a screen.
import { useEffect } from "react";
import { useLocation, useNavigationType } from "react-router";
import { focusableFields, isVisible } from "../components/focusableFields";

export type FocusTarget = "item" | "screen" | "heading";

interface FocusSpot {
  element: HTMLElement;
  /** Temporary: a better target may still be loading. */
  isForNow: boolean;
}

const firstIn = (within: Element, ...selectors: string[]): HTMLElement | undefined =>
  selectors
    .flatMap((selector) => [...within.querySelectorAll<HTMLElement>(selector)])
    .find(isVisible);

function spotIn(main: Element, focus: FocusTarget): FocusSpot | null {
  const settled = (element: HTMLElement): FocusSpot => ({ element, isForNow: false });
  if (focus !== "item") {
    const lists = focus === "screen" ? ['[role="listbox"], [role="tree"]'] : [];
    const element = firstIn(main, ...lists, "h1", "h2");
    return element ? settled(element) : null;
  }
  const form = main.querySelector<HTMLElement>("[data-fields]");
  const [field] = focusableFields(form);
  if (field) return settled(field);
  const button = firstIn(main, "[data-run]:not(:disabled)");
  if (button && form?.dataset.fields !== "coming") return settled(button);
  const heading = firstIn(main, "h2", "h1");
  return heading ? { element: heading, isForNow: true } : null;
}

/** Focus the target as soon as it is rendered. */
export function focusTarget(main: HTMLElement, focus: FocusTarget): () => void {
  let last: Element | null = null;
  const isFree = (active: Element | null): boolean =>
    active === null ||
    active === document.body ||
    active === last ||
    active.closest('[aria-modal="true"]') !== null;
  const attempt = (): void => {
    if (!isFree(document.activeElement)) {
      stop();
      return;
    }
    const spot = spotIn(main, focus);
    if (!spot) return;
    if (spot.element !== last) {
      if (spot.element.tabIndex < 0) spot.element.tabIndex = -1;
      spot.element.focus();
      last = spot.element;
    }
    if (!spot.isForNow) stop();
  };
  const observer = new MutationObserver(attempt);
  const stop = (): void => {
    observer.disconnect();
    // Do not take the focus from a user who acts meanwhile.
    document.removeEventListener("keydown", stop, true);
    document.removeEventListener("pointerdown", stop, true);
  };
  observer.observe(main, { childList: true, subtree: true, attributeFilter: ["data-fields"] });
  document.addEventListener("keydown", stop, true);
  document.addEventListener("pointerdown", stop, true);
  attempt();
  return stop;
}

export function useNavigationFocus(): void {
  const { key, state } = useLocation();
  // Not for back navigation or a reload.
  const isNew = useNavigationType() !== "POP";
  const focus: FocusTarget | undefined = isNew ? state?.focus : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that one goes somewhere
  useEffect(() => {
    const main = document.getElementById("screen");
    if (focus && main) return focusTarget(main, focus);
  }, [key, focus]);
}
