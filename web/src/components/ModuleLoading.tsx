import { Button } from "@mantine/core";
import { type LazyModule, retryLoad, useLoadProblem } from "./lazyModule";

/** Placeholder while a lazily loaded module is not there yet. */
export function ModuleLoading({ loader, what }: { loader: LazyModule<unknown>; what: string }) {
  const problem = useLoadProblem(loader);
  if (!problem) return <p className="dim">Loading {what}…</p>;
  return (
    <div className="row wrap" role="alert">
      <span>Loading {what} failed. mcplens may not be running.</span>
      <Button size="compact-xs" variant="default" onClick={() => void retryLoad(loader)}>
        Try again
      </Button>
    </div>
  );
}
