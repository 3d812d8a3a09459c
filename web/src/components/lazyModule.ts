// Lazily loaded modules, without the 300 ms delay of React's Suspense.
import { useEffect, useSyncExternalStore } from "react";
import { checkSession } from "../api/session";

export interface LazyModule<T> {
  /** Rejects if the module cannot be loaded; another call tries again. */
  load(): Promise<T>;
  loaded: T | null;
  /** Why the last attempt failed. */
  problem: Error | null;
  subscribe(listener: () => void): () => void;
}

const addressIn = (thrown: unknown): string | null =>
  String(thrown).match(/https?:\S+?\.js/)?.[0] ?? null;

const all: LazyModule<unknown>[] = [];

export function lazyModule<T>(fetchIt: () => Promise<T>): LazyModule<T> {
  const listeners = new Set<() => void>();
  const tell = (problem: Error | null): void => {
    loader.problem = problem;
    for (const listener of listeners) listener();
  };
  // A browser never retries a failed import under the same URL.
  let failed: string | null = null;
  const fetchAny = async (): Promise<T> =>
    failed ? import(/* @vite-ignore */ `${failed}?again=${Date.now()}`) : fetchIt();
  const loader: LazyModule<T> = {
    loaded: null,
    problem: null,
    load: async () => {
      if (loader.problem) tell(null);
      try {
        loader.loaded ??= await fetchAny();
      } catch (thrown) {
        failed = addressIn(thrown);
        tell(thrown instanceof Error ? thrown : new Error(String(thrown)));
        throw thrown;
      }
      tell(null);
      return loader.loaded;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  all.push(loader);
  return loader;
}

/** All lazy modules. */
export const lazyModules = (): readonly LazyModule<unknown>[] => all;

/** Load it; an error is stored in `problem`. */
const tryLoading = (loader: LazyModule<unknown>): void => void loader.load().catch(() => {});

/**
 * Retry on request. A shared chunk that failed is never requested again by this page, so the page
 * is reloaded if mcplens responds.
 */
export async function retryLoad(loader: LazyModule<unknown>): Promise<void> {
  try {
    await loader.load();
  } catch {
    if ((await checkSession()) === "yes") location.reload();
  }
}

export function useModule<T>(loader: LazyModule<T>): T | null {
  useEffect(() => {
    if (!loader.loaded) tryLoading(loader);
  }, [loader]);
  return useSyncExternalStore(loader.subscribe, () => loader.loaded);
}

export const useLoadProblem = (loader: LazyModule<unknown>): Error | null =>
  useSyncExternalStore(loader.subscribe, () => loader.problem);
