// Code that is loaded when it is needed, without the third of a second that Suspense holds back.
import { useEffect, useSyncExternalStore } from "react";
import { checkSession } from "../api/session";

export interface LazyModule<T> {
  /** Rejects if the code cannot be had now; another call tries again. */
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
  // What a browser could not fetch once it never asks for again under the same address.
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

/** All code that is loaded by and by. */
export const lazyModules = (): readonly LazyModule<unknown>[] => all;

/** Load it; what fails is in `problem`. */
const tryLoading = (loader: LazyModule<unknown>): void => void loader.load().catch(() => {});

/**
 * Load it because somebody asks. A part that it shares with others is asked for under the address
 * that failed, which the browser never does in this page: then another page does, if mcplens is there.
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
