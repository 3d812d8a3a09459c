// Resolves the path of a root on the computer that mcplens runs on.
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { command } from "../../state/commands";
import { errorViewOf } from "../../state/toasts";

interface ResolvedPath {
  of: string;
  to?: string;
  problem?: string;
  /**
   * The path that could not be read, which may still be a root. Undefined if it is not a valid
   * path.
   */
  path?: string;
}

/** Null while it is unknown. */
export function useResolvedPath(typed: string): ResolvedPath | null {
  const [path] = useDebouncedValue(typed.trim(), 200);
  const [lead, setLead] = useState<ResolvedPath | null>(null);
  useEffect(() => {
    let isLeft = false;
    const found = (next: Omit<ResolvedPath, "of">): void => {
      if (!isLeft) setLead({ of: path, ...next });
    };
    if (path)
      command("BrowseFolder", { path }).then(
        (folder) => found({ to: folder.path }),
        (thrown: unknown) => {
          const { message, details } = errorViewOf(thrown);
          found({ problem: message, ...(details.path ? { path: String(details.path) } : {}) });
        },
      );
    return () => {
      isLeft = true;
    };
  }, [path]);
  return lead?.of === typed.trim() ? lead : null;
}
