import { useEffect } from "react";

// Elements that handle Escape themselves.
const OPEN = '[role="dialog"], [role="menu"], .mantine-Popover-dropdown';

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Esc closes the detail pane, unless a dialog or menu above it handles the key. */
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
