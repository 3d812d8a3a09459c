// A mistake of this page's own: said plainly, with a way on. Calls and connections go on behind it.
import { Button } from "@mantine/core";
import { useLocation, useNavigate, useRouteError } from "react-router";
import { Empty } from "../parts/Empty";
import { words } from "../parts/format";

const reload = (): void => location.reload();

const KEPT = "Servers, calls and questions are kept by mcplens, not by this page: nothing is lost.";

/** In place of the whole page. */
export function Problem() {
  const thrown = useRouteError();
  return (
    <Empty
      icon="alert"
      title="This page failed"
      action={<Button onClick={reload}>Load the page again</Button>}
    >
      {words(thrown)}. {KEPT}
    </Empty>
  );
}

/** In place of one screen; the way to all others stays. */
export function Failed({ thrown, onRetry }: { thrown: unknown; onRetry(): void }) {
  return (
    <Empty
      icon="alert"
      title="This screen failed"
      action={
        <div className="row wrap">
          <Button onClick={onRetry}>Try again</Button>
          <Button variant="default" onClick={reload}>
            Load the page again
          </Button>
        </div>
      }
    >
      {words(thrown)}. {KEPT}
    </Empty>
  );
}

export function ScreenProblem() {
  const thrown = useRouteError();
  const here = useLocation();
  const navigate = useNavigate();
  return <Failed thrown={thrown} onRetry={() => void navigate(here, { replace: true })} />;
}
