import { useHotkeys } from "@mantine/hooks";

/** Ctrl or Cmd with Enter, wherever the focus is: in a field, in an editor, or on nothing. */
export function useRunKey(run: () => void): void {
  const onKey = (event: KeyboardEvent): void => {
    // Whoever has answered it already, or a dialog above the screen, keeps it.
    const isAbove = event.target instanceof Element && event.target.closest("[aria-modal=true]");
    if (event.defaultPrevented || isAbove) return;
    event.preventDefault();
    run();
  };
  useHotkeys([["mod+Enter", onKey, { preventDefault: false }]], [], true);
}
