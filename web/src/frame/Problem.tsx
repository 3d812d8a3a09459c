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
export function ScreenProblem() {
  const thrown = useRouteError();
  const here = useLocation();
  const navigate = useNavigate();
  const retry = (): void => void navigate(here, { replace: true });
  return (
    <Empty
      icon="alert"
      title="This screen failed"
      action={
        <div className="row wrap">
          <Button onClick={retry}>Try again</Button>
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
