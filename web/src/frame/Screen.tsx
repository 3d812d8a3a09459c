import type { ComponentType } from "react";
import { type Loader, loadAnyhow, useLoadProblem, useModule } from "../parts/useModule";
import { Failed } from "./Problem";

const NOT_FETCHED = "Its code could not be fetched; mcplens may not be running";

interface Props<T> {
  loader: Loader<T>;
  pick(module: T): ComponentType;
}

/** A screen, or why its code is not there. */
export function Screen<T>({ loader, pick }: Props<T>) {
  const module = useModule(loader);
  const problem = useLoadProblem(loader);
  if (module === null)
    return problem && <Failed why={NOT_FETCHED} onRetry={() => void loadAnyhow(loader)} />;
  const Shown = pick(module);
  return <Shown />;
}
