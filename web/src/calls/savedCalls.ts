// Calls of a tool that are saved in collections, and saving a call to one.
import { notifications } from "@mantine/notifications";
import { useEffect } from "react";
import { create } from "zustand";
import type { SavedCallView } from "../api/types";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";

interface Tool {
  server_id: string;
  tool: string;
}

const keyOf = ({ server_id, tool }: Tool): string => `${server_id}/${tool}`;

const useAll = create<{ byTool: ReadonlyMap<string, SavedCallView[]> }>(() => ({
  byTool: new Map(),
}));

async function load(tool: Tool): Promise<void> {
  const list = await command("ListSavedCalls", tool);
  useAll.setState(({ byTool }) => ({ byTool: new Map(byTool).set(keyOf(tool), list) }));
}

/** The saved calls of a tool that were loaded; undefined if they were not. */
export const useKnownCalls = (server_id: string, tool: string): SavedCallView[] | undefined =>
  useAll((state) => state.byTool.get(keyOf({ server_id, tool })));

/** The saved calls of a tool, by name; undefined until they are known. */
export function useSavedCalls(server_id: string, tool: string): SavedCallView[] | undefined {
  useEffect(() => {
    load({ server_id, tool }).catch(() => {});
  }, [server_id, tool]);
  return useKnownCalls(server_id, tool);
}

export interface NewSavedCall {
  call_id: string;
  /** Folder and name of the collection, which is made if there is none. */
  key: string;
  name: string;
  description: string;
  is_test: boolean;
}

/** Whether the call was saved; if not, a toast says why. */
export async function saveCall(tool: Tool | null, saved: NewSavedCall): Promise<boolean> {
  const view = await withErrorToast("The call was not saved", command("SaveCall", saved));
  if (!view) return false;
  notifications.show({ message: `Saved to ${view.path}`, color: "lens" });
  if (tool) await load(tool).catch(() => {});
  return true;
}

/** Whether a recorded request was saved as a test; if not, a toast says why. */
export async function saveRecordedTest(
  place: { run_id: string; seq: number },
  saved: { key: string; name: string; description: string },
): Promise<boolean> {
  const work = command("SaveRecordedTest", { ...place, ...saved });
  const view = await withErrorToast("The test was not saved", work);
  if (!view) return false;
  notifications.show({ message: `Saved to ${view.path}`, color: "lens" });
  return true;
}

export async function deleteSavedCall(tool: Tool, saved: SavedCallView): Promise<void> {
  const { key, digest, index } = saved;
  await withErrorToast(
    "The saved call was not deleted",
    command("DeleteSavedCall", { key, digest, index }),
  );
  // A file that changed meanwhile is shown as it is now.
  await load(tool).catch(() => {});
}

/** The arguments as JSON text, variables filled in; null if one has no value (a toast says so). */
export async function filledArguments(saved: SavedCallView): Promise<string | null> {
  if (!saved.has_variables) return saved.arguments;
  const { key, digest, index } = saved;
  return withErrorToast(
    "The saved call cannot be filled in",
    command("FillSavedCall", { key, digest, index }),
  );
}
