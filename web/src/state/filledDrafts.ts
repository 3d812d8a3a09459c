// Fills a form from elsewhere: from a saved call or a recorded request. What it replaced comes back
// by a toast.
import { notifications } from "@mantine/notifications";
import { readDraft, writeDraft } from "./browserStorage";
import { withButton } from "./toasts";

export type Draft = [key: string, value: unknown];

let count = 0;

/** Write drafts; if they replace others, show a toast with this text that restores those. */
export function fillDrafts(text: string, drafts: Draft[]): void {
  const before = drafts.map(([key]): Draft => [key, readDraft<unknown>(key, undefined)]);
  for (const draft of drafts) writeDraft(...draft);
  const isReplaced = before.some(
    ([, value], at) =>
      value !== undefined && JSON.stringify(value) !== JSON.stringify(drafts[at]?.[1]),
  );
  if (!isReplaced) return;
  const id = `filled ${count++}`;
  const undo = (): void => {
    for (const draft of before) writeDraft(...draft);
    notifications.hide(id);
  };
  notifications.show({ id, message: withButton(text, "Undo", undo) });
}
