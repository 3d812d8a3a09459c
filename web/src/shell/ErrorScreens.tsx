// Error screens for bugs of the page itself. Calls and connections continue in the backend.
import { Button } from "@mantine/core";
import { useLocation, useNavigate, useRouteError } from "react-router";
import { EmptyState } from "../components/EmptyState";
import { errorMessage } from "../values/format";

const reload = (): void => location.reload();

const KEPT = "Servers, calls and questions are kept by mcplens, not by this page: nothing is lost.";

/** Replaces the whole page. */
export function PageError() {
  const thrown = useRouteError();
  return (
    <EmptyState
      icon="alert"
      title="This page failed"
      action={<Button onClick={reload}>Reload the page</Button>}
    >
      {errorMessage(thrown)}. {KEPT}
    </EmptyState>
  );
}

/** Replaces one screen; navigation stays. */
export function ScreenError({ why, onRetry }: { why: string; onRetry(): void }) {
  return (
    <EmptyState
      icon="alert"
      title="This screen failed"
      action={
        <div className="row wrap">
          <Button onClick={onRetry}>Try again</Button>
          <Button variant="default" onClick={reload}>
            Reload the page
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
