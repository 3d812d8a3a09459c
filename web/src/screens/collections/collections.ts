// The collections as last read: the list of files, and the content of the one that is shown. Read
// again when the window gets the focus, since files are edited elsewhere too.
import { useCallback, useEffect, useState } from "react";
import type { CollectionListView, CollectionView, ErrorView } from "../../api/types";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { errorViewOf } from "../../state/toasts";

interface Loaded<T> {
  value: T | null;
  error: ErrorView | null;
  reload(): Promise<void>;
  /** Show this, which a command has replied. */
  show(value: T): void;
}

/** What `read` gives, once the backend can be asked and whenever the window gets the focus. */
function useRead<T>(read: () => Promise<T>): Loaded<T> {
  const [latest, setLatest] = useState<{
    of: () => Promise<T>;
    value: T | null;
    error: ErrorView | null;
  } | null>(null);
  const current = latest?.of === read ? latest : null; // not what another collection had
  const reload = useCallback(async (): Promise<void> => {
    try {
      const value = await read();
      setLatest({ of: read, value, error: null });
    } catch (thrown) {
      const error = errorViewOf(thrown);
      setLatest((before) => ({
        of: read,
        value: before?.of === read ? before.value : null,
        error,
      }));
    }
  }, [read]);
  const isLinked = useInspector((state) => state.link.state === "open");
  useEffect(() => {
    if (!isLinked) return;
    const again = (): void => void reload();
    again();
    window.addEventListener("focus", again);
    return () => window.removeEventListener("focus", again);
  }, [reload, isLinked]);
  const show = useCallback((value: T): void => setLatest({ of: read, value, error: null }), [read]);
  return { value: current?.value ?? null, error: current?.error ?? null, reload, show };
}

const readList = (): Promise<CollectionListView> => command("ListCollections", {});

export const useCollectionList = (): Loaded<CollectionListView> => useRead(readList);

export function useCollection(key: string): Loaded<CollectionView> {
  const read = useCallback(() => command("ShowCollection", { key }), [key]);
  return useRead(read);
}

/** Whether a command failed because the file was changed by another program. */
export const isChangedOnDisk = (error: ErrorView | null): boolean =>
  error?.details.changed_on_disk === true;
