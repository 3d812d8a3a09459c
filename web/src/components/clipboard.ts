// Copying text to the clipboard.
import { notifications } from "@mantine/notifications";

/** Fallback where the clipboard API is not available, as on http:// from another machine. */
function copySelected(text: string): void {
  const { activeElement: former } = document;
  const selection = document.getSelection();
  const chosen = selection?.rangeCount ? selection.getRangeAt(0) : null;
  const dialogs = document.querySelectorAll('[aria-modal="true"]');
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.tabIndex = -1;
  field.style.cssText = "position: fixed; top: 0; left: 0; opacity: 0";
  // A dialog traps the focus.
  const place = former?.closest('[aria-modal="true"]') ?? dialogs[dialogs.length - 1];
  (place ?? document.body).append(field);
  try {
    field.focus({ preventScroll: true });
    field.setSelectionRange(0, text.length);
    if (!document.execCommand("copy")) throw new Error("not allowed");
  } finally {
    field.remove();
    if (chosen) {
      selection?.removeAllRanges();
      selection?.addRange(chosen);
    }
    if (former instanceof HTMLElement) former.focus({ preventScroll: true });
  }
}

async function written(text: string): Promise<void> {
  try {
    // May be missing, or not allowed.
    await navigator.clipboard.writeText(text);
  } catch {
    copySelected(text);
  }
}

export async function copyText(text: string, what = "Copied"): Promise<void> {
  try {
    await written(text);
    notifications.show({ message: what, color: "lens", autoClose: 1500 });
  } catch {
    notifications.show({ message: "The browser did not allow copying.", color: "red" });
  }
}
