// Copying from a windowed text: the copy has only the line breaks of the text, not of the rows.
import type { ClipboardEvent } from "react";

/** Position of a selection boundary in the text; null outside of the rows. */
function placeOf(node: Node, offset: number): number | null {
  const element = node instanceof Element ? node : node.parentElement;
  const row = element?.closest<HTMLElement>("[data-start]");
  if (!row) return null;
  const before = document.createRange();
  before.setStart(row, 0);
  before.setEnd(node, offset);
  return Number(row.dataset.start) + before.toString().length;
}

/** Copies the selected part of the text; a selection beyond the rows is left to the browser. */
export function copySelection(event: ClipboardEvent, text: string): void {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const start = placeOf(range.startContainer, range.startOffset);
  const end = placeOf(range.endContainer, range.endOffset);
  if (start === null || end === null) return;
  event.clipboardData.setData("text/plain", text.slice(start, end));
  event.preventDefault();
}
