import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { EventView } from "../../api/types";
import { words } from "../../parts/format";
import { startCall } from "../../state/connection";

/** Sends a recorded request again with a new id. */
export function ReplayButton({ event }: { event: EventView }) {
  const replay = async (): Promise<void> => {
    try {
      const call = await startCall("ReplayCall", { seq: event.seq, run_id: event.run_id });
      notifications.show({ message: `${call.method} was sent again.` });
    } catch (thrown) {
      notifications.show({
        color: "red",
        title: "It could not be sent again",
        message: words(thrown),
      });
    }
  };
  return (
    <Button variant="default" size="compact-xs" onClick={() => void replay()}>
      Send again
    </Button>
  );
}
