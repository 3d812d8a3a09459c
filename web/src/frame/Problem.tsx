import { Button } from "@mantine/core";
import { useRouteError } from "react-router";
import { Empty } from "../parts/Empty";
import { words } from "../parts/format";

/** A mistake of this page's own: said plainly, with a way on. Calls and connections go on behind it. */
export function Problem() {
  const thrown = useRouteError();
  return (
    <Empty
      icon="alert"
      title="This screen failed"
      action={<Button onClick={() => location.reload()}>Load the page again</Button>}
    >
      {words(thrown)}. Servers, calls and questions are kept by mcplens, not by this page: nothing
      is lost.
    </Empty>
  );
}
