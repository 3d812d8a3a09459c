import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { EventView } from "../../api/types";
import { telling } from "../../state/actions";
import { startCall } from "../../state/connection";

/** Sends a recorded request again with a new id. */
export function ReplayButton({ event: { seq, run_id } }: { event: EventView }) {
  const replay = async (): Promise<void> => {
    const call = await startCall("ReplayCall", { seq, run_id });
    notifications.show({ message: `${call.method} was sent again.` });
  };
  return (
    <Button
      variant="default"
      size="compact-xs"
      onClick={() => void telling("It could not be sent again", replay())}
    >
      Send again
    </Button>
  );
}
