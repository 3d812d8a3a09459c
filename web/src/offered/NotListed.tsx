import { Callout } from "../components/Callout";
import { formatTime } from "../values/format";
import type { Missing } from "./missing";

/** Says that something is not in the server's list; it can be tried all the same. */
export function NotListed({ missing }: { missing: Missing | null }) {
  return (
    // Without a box of its own: while it is empty it must not part what is around it.
    <div role="status" style={{ display: "contents" }}>
      {missing && (
        <Callout tone="info">
          Not in the server's list.{" "}
          {missing.since !== null && `It was removed at ${formatTime(missing.since, false)}. `}
          You can try it all the same.
        </Callout>
      )}
    </div>
  );
}
