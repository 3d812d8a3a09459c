// Code that is loaded when it is needed, without the third of a second that Suspense holds back.
import { useEffect, useState } from "react";

export interface Loader<T> {
  load(): Promise<T>;
  loaded: T | null;
}

export function lazyModule<T>(fetchIt: () => Promise<T>): Loader<T> {
  const loader: Loader<T> = {
    loaded: null,
    load: async () => {
      loader.loaded ??= await fetchIt();
      return loader.loaded;
    },
  };
  return loader;
}

export function useModule<T>(loader: Loader<T>): T | null {
  const [module, setModule] = useState<{ it: T } | null>(
    loader.loaded ? { it: loader.loaded } : null,
  );
  useEffect(() => {
    let isGone = false;
    void loader.load().then((it) => !isGone && setModule({ it }));
    return () => {
      isGone = true;
    };
  }, [loader]);
  return module?.it ?? null;
}
