import { Anchor } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "react-router";
import type { CallView, EventView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { useBusy } from "../../components/useBusy";
import { startCall } from "../../state/commands";
import { resend } from "../../state/connect";
import { pathToCall } from "../../state/navigation";
import { useInspector } from "../../state/store";

// The toast of the last request that was sent again: a newer one takes its place.
let lastToast = "";

/** Why a recorded request cannot be sent again; null if it can. */
export const unknownServer = (serverId: string, isKnown: boolean): string | null =>
  isKnown ? null : `There is no server named ${serverId} now. Add it to send this to it`;

/** Sends a recorded request again with a new id, reconnecting if needed. */
export function ReplayButton({ event: { seq, run_id, server_id } }: { event: EventView }) {
  const navigate = useNavigate();
  const { isBusy, run } = useBusy();
  const server = useInspector((state) => state.servers.get(server_id));
  const tell = (call: CallView): void => {
    const path = pathToCall(call);
    notifications.hide(lastToast);
    const id = notifications.show({
      message: (
        <>
          {call.method} was sent again.{" "}
          <Anchor
            href={path}
            inherit
            onClick={(event) => {
              event.preventDefault();
              notifications.hide(id);
              void navigate(path);
            }}
          >
            Show the call
          </Anchor>
        </>
      ),
    });
    lastToast = id;
  };
  const replay = async (): Promise<void> => {
    const call = await resend(server_id, () => startCall("ReplayCall", { seq, run_id }));
    if (call) tell(call);
  };
  return (
    <ButtonWithReason
      variant="default"
      size="compact-xs"
      disabledReason={unknownServer(server_id, server !== undefined)}
      loading={isBusy}
      onClick={() => run(replay)}
    >
      {server && server.state !== "CONNECTED" ? "Connect and send again" : "Send again"}
    </ButtonWithReason>
  );
}
