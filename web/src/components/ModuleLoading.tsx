import { Button } from "@mantine/core";
import { type LazyModule, retryLoad, useLoadProblem } from "./lazyModule";

/** In place of what a module draws, until it is there. */
export function ModuleLoading({ loader, what }: { loader: LazyModule<unknown>; what: string }) {
  const problem = useLoadProblem(loader);
  if (!problem) return <p className="dim">ModuleLoading {what}…</p>;
  return (
    <div className="row wrap" role="alert">
      <span>ModuleLoading {what} failed. mcplens may not be running.</span>
      <Button size="compact-xs" variant="default" onClick={() => void retryLoad(loader)}>
        Try again
      </Button>
    </div>
  );
}
