import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "react-router";
import type { EventView } from "../../api/types";
import { words } from "../../parts/format";
import { startCall } from "../../state/connection";
import { pathTo } from "../../state/selection";

/** Sends a recorded request again with a new id. */
export function ReplayButton({ event }: { event: EventView }) {
  const navigate = useNavigate();
  const replay = async (): Promise<void> => {
    try {
      const call = await startCall("ReplayCall", { seq: event.seq, run_id: event.run_id });
      if (call.kind === "tool") {
        void navigate(
          `${pathTo(call.server_id, "tools", call.name)}?call=${encodeURIComponent(call.call_id)}`,
        );
      } else notifications.show({ message: `${call.method} was sent again.` });
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
