import { useEffect, useRef } from "react";

// Elements that handle Escape themselves.
const OPEN = '[role="dialog"], [role="menu"], .mantine-Popover-dropdown';

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const hasOpen = (): boolean =>
  [...document.querySelectorAll(OPEN)].some((one) => one.checkVisibility());

/** Esc closes the detail pane, unless a dialog or menu above it handles the key. */
export function useEscape(isOpen: boolean, close: () => void): void {
  // Before the key reaches a dialog that is opened later: that may be gone when it comes here.
  const isAbove = useRef(false);
  useEffect(() => {
    const look = (): void => {
      isAbove.current = hasOpen();
    };
    window.addEventListener("keydown", look, true);
    return () => window.removeEventListener("keydown", look, true);
  }, []);
  useEffect(() => {
    if (!isOpen) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || isTyped(event.target)) return;
      if (!isAbove.current && !hasOpen()) close();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
