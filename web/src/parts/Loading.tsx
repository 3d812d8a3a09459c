import { Button } from "@mantine/core";
import { type Loader, loadAnyhow, useLoadProblem } from "./useModule";

/** In place of what a module draws, until it is there. */
export function Loading({ loader, what }: { loader: Loader<unknown>; what: string }) {
  const problem = useLoadProblem(loader);
  if (!problem) return <p className="dim">Loading {what}…</p>;
  return (
    <div className="row wrap" role="alert">
      <span>Loading {what} failed. mcplens may not be running.</span>
      <Button size="compact-xs" variant="default" onClick={() => void loadAnyhow(loader)}>
        Try again
      </Button>
    </div>
  );
}
