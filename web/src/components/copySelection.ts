// Copying from rows that are pieces of lines: what is copied has the line breaks of the text only.
import type { ClipboardEvent } from "react";

/** Where in the text an end of a selection lies; null if it is in no row. */
function placeOf(node: Node, offset: number): number | null {
  const element = node instanceof Element ? node : node.parentElement;
  const row = element?.closest<HTMLElement>("[data-start]");
  if (!row) return null;
  const before = document.createRange();
  before.setStart(row, 0);
  before.setEnd(node, offset);
  return Number(row.dataset.start) + before.toString().length;
}

/** Copy the part of the text that is selected; what reaches beyond the rows is the browser's. */
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
