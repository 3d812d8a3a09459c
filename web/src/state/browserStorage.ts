// Browser storage: preferences in localStorage, drafts in sessionStorage. Neither is ever sent or
// recorded.
import { useCallback, useEffect, useRef, useState } from "react";

function read<T>(storage: Storage, key: string, initial: T): T {
  try {
    const text = storage.getItem(key);
    return text === null ? initial : (JSON.parse(text) as T);
  } catch {
    return initial;
  }
}

function write(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === undefined) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage may be full or disabled; the value is just not saved.
  }
}

// Notified of keys that are written outside of the hook.
const listeners = new Set<(key: string) => void>();

function useStored<T>(storage: Storage, key: string, initial: T): [T, (value: T) => void] {
  const [held, hold] = useState({ key, value: read(storage, key, initial) });
  let value = held.value;
  if (held.key !== key) {
    value = read(storage, key, initial);
    hold({ key, value });
  }
  const first = useRef(initial);
  first.current = initial;
  useEffect(() => {
    const reread = (written: string): void => {
      if (written === key) hold({ key, value: read(storage, key, first.current) });
    };
    listeners.add(reread);
    return () => void listeners.delete(reread);
  }, [storage, key]);
  const set = useCallback(
    (next: T) => {
      write(storage, key, next);
      hold({ key, value: next });
    },
    [storage, key],
  );
  return [value, set];
}

export const usePreference = <T>(key: string, initial: T): [T, (value: T) => void] =>
  useStored(localStorage, `mcplens.${key}`, initial);

/** Read a preference outside of a component. */
export const readPreference = <T>(key: string, initial: T): T =>
  read(localStorage, `mcplens.${key}`, initial);

export const writePreference = (key: string, value: unknown): void =>
  write(localStorage, `mcplens.${key}`, value);

export const useDraft = <T>(key: string, initial: T): [T, (value: T) => void] =>
  useStored(sessionStorage, `mcplens.draft.${key}`, initial);

/** Read a draft outside of a component. */
export const readDraft = <T>(key: string, initial: T): T =>
  read(sessionStorage, `mcplens.draft.${key}`, initial);

export const dropDraft = (key: string): void =>
  write(sessionStorage, `mcplens.draft.${key}`, undefined);

/** Drop all drafts under a prefix but these. */
export function dropDrafts(prefix: string, kept: ReadonlySet<string>): void {
  for (const stored of Object.keys(sessionStorage)) {
    const key = stored.replace(/^mcplens\.draft\./, "");
    if (key !== stored && key.startsWith(prefix) && !kept.has(key)) dropDraft(key);
  }
}

export const readSession = <T>(key: string, initial: T): T =>
  read(sessionStorage, `mcplens.${key}`, initial);

export const writeSession = (key: string, value: unknown): void =>
  write(sessionStorage, `mcplens.${key}`, value);

/** Write a draft from elsewhere; mounted users of it are updated. */
export function writeDraft(key: string, value: unknown): void {
  const stored = `mcplens.draft.${key}`;
  write(sessionStorage, stored, value);
  for (const listener of listeners) listener(stored);
}
