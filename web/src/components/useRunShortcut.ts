import { useLayoutEffect } from "react";

/** Ctrl or Cmd with Enter, wherever the focus is: in a field, in an editor, or on nothing. Null
 * leaves it to what stands beside. */
export function useRunShortcut(run: (() => void) | null): void {
  // At once: a key between the drawing and a later effect would run what was shown before.
  useLayoutEffect(() => {
    if (run === null) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      if (event.altKey || event.shiftKey) return;
      // Whoever has answered it already, or a dialog above the screen, keeps it.
      const isAbove = event.target instanceof Element && event.target.closest("[aria-modal=true]");
      if (event.defaultPrevented || isAbove) return;
      event.preventDefault();
      run();
    };
    document.documentElement.addEventListener("keydown", onKey);
    return () => document.documentElement.removeEventListener("keydown", onKey);
  });
}
