// Calls that are kept as examples of a tool; mcplens keeps them across restarts.
import { useEffect } from "react";
import { create } from "zustand";
import type { ExampleView } from "../api/types";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";

interface Tool {
  server_id: string;
  tool: string;
}

const keyOf = ({ server_id, tool }: Tool): string => `${server_id}/${tool}`;

const useAll = create<{ byTool: ReadonlyMap<string, ExampleView[]> }>(() => ({
  byTool: new Map(),
}));

function take(tool: Tool, list: ExampleView[]): void {
  useAll.setState(({ byTool }) => ({ byTool: new Map(byTool).set(keyOf(tool), list) }));
}

/** The examples of a tool, by name; undefined until they are known. */
export function useExamples(server_id: string, tool: string): ExampleView[] | undefined {
  useEffect(() => {
    command("ListExamples", { server_id, tool }).then(
      (list) => take({ server_id, tool }, list),
      () => {},
    );
  }, [server_id, tool]);
  return useAll((state) => state.byTool.get(keyOf({ server_id, tool })));
}

export async function saveExample(tool: Tool, call_id: string, name: string): Promise<void> {
  const done = command("SaveExample", { call_id, name });
  await withErrorToast(
    "The example was not saved",
    done.then((list) => take(tool, list)),
  );
}

export async function deleteExample(tool: Tool, name: string): Promise<void> {
  const done = command("DeleteExample", { ...tool, name });
  await withErrorToast(
    "The example was not deleted",
    done.then((list) => take(tool, list)),
  );
}
