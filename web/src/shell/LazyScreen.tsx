import type { ComponentType } from "react";
import { type LazyModule, retryLoad, useLoadProblem, useModule } from "../components/lazyModule";
import { ScreenError } from "./ErrorScreens";

const NOT_FETCHED = "Its code could not be loaded; mcplens may not be running";

interface Props<T> {
  loader: LazyModule<T>;
  pick(module: T): ComponentType;
}

/** A lazily loaded screen, or why it could not be loaded. */
export function LazyScreen<T>({ loader, pick }: Props<T>) {
  const module = useModule(loader);
  const problem = useLoadProblem(loader);
  if (module === null)
    return problem && <ScreenError why={NOT_FETCHED} onRetry={() => void retryLoad(loader)} />;
  const Shown = pick(module);
  return <Shown />;
}
