import { useLayoutEffect } from "react";

/** Ctrl or Cmd with Enter, wherever the focus is. Null disables the shortcut. */
export function useRunShortcut(run: (() => void) | null): void {
  // In a layout effect: a key pressed before a later effect would run the previous item.
  useLayoutEffect(() => {
    if (run === null) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      if (event.altKey || event.shiftKey) return;
      // Ignore keys that were handled already, or that belong to a dialog.
      const isAbove = event.target instanceof Element && event.target.closest("[aria-modal=true]");
      if (event.defaultPrevented || isAbove) return;
      event.preventDefault();
      run();
    };
    document.documentElement.addEventListener("keydown", onKey);
    return () => document.documentElement.removeEventListener("keydown", onKey);
  });
}
