// A mistake of this page's own: said plainly, with a way on. Calls and connections go on behind it.
import { Button } from "@mantine/core";
import { useLocation, useNavigate, useRouteError } from "react-router";
import { EmptyState } from "../components/EmptyState";
import { errorMessage } from "../values/format";

const reload = (): void => location.reload();

const KEPT = "Servers, calls and questions are kept by mcplens, not by this page: nothing is lost.";

/** In place of the whole page. */
export function PageError() {
  const thrown = useRouteError();
  return (
    <EmptyState
      icon="alert"
      title="This page failed"
      action={<Button onClick={reload}>Load the page again</Button>}
    >
      {errorMessage(thrown)}. {KEPT}
    </EmptyState>
  );
}

/** In place of one screen; the way to all others stays. */
export function ScreenError({ why, onRetry }: { why: string; onRetry(): void }) {
  return (
    <EmptyState
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
      {why}. {KEPT}
    </EmptyState>
  );
}

export function RouteError() {
  const why = errorMessage(useRouteError());
  const here = useLocation();
  const navigate = useNavigate();
  return <ScreenError why={why} onRetry={() => void navigate(here, { replace: true })} />;
}
