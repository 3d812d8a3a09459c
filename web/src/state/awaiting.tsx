// Commands that wait for a server. One that takes longer than a moment is told of in passing: what
// it waits for, since when, and a way to cancel it.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { formatTime, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { telling, viewOf } from "./actions";
import { socket } from "./connection";

// Nobody wonders sooner.
const MOMENT_MS = 1000;
// A server chooses its addresses.
const MOST = 120;
let count = 0;

/** Wait for a command; if it fails, say what could not be done, unless it was cancelled here. */
export async function awaiting<T>(
  what: string,
  title: string,
  work: Promise<T>,
): Promise<T | null> {
  const id = `awaiting ${count++}`;
  const since = Date.now() / 1000;
  let isCancelled = false;
  const cancel = (): void => {
    isCancelled = true;
    socket.abandon(work);
  };
  const timer = setTimeout(
    () =>
      notifications.show({
        id,
        loading: true,
        autoClose: false,
        withCloseButton: false,
        message: (
          <span className="row wrap">
            <span className="grow">
              Waiting for {visible(truncate(what, MOST))} since {formatTime(since, false)}
            </span>
            <Button size="compact-xs" variant="default" onClick={cancel}>
              Cancel
            </Button>
          </span>
        ),
      }),
    MOMENT_MS,
  );
  const settled = work.catch((thrown: unknown) => {
    if (isCancelled && viewOf(thrown).code === "CANCELLED") return null;
    throw thrown;
  });
  const value = await telling(title, settled);
  clearTimeout(timer);
  notifications.hide(id);
  return value;
}
