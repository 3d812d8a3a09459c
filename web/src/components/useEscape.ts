import { useEffect } from "react";

// What closes itself by the same key.
const OPEN = '[role="dialog"], [role="menu"], .mantine-Popover-dropdown';

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Esc closes what is open beside the rows, unless something above it wants the key. */
export function useEscape(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isTyped(event.target)) return;
      const others = [...document.querySelectorAll(OPEN)];
      if (!others.some((one) => one.checkVisibility())) close();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
