import { Button } from "@mantine/core";
import type { CallView } from "../api/types";
import { useBusy } from "../components/useBusy";
import { startCall } from "../state/commands";
import { resend } from "../state/connect";
import { useInspector } from "../state/store";

interface Props {
  call: CallView;
  onRepeated?(callId: string): void;
}

/** Repeats a call, with a new connection if the old one is closed. */
export function RepeatButton({ call: { call_id, server_id }, onRepeated }: Props) {
  const state = useInspector((all) => all.servers.get(server_id)?.state);
  const { isBusy, run } = useBusy();
  const repeat = async (): Promise<void> => {
    const again = await resend(server_id, () => startCall("RepeatCall", { call_id }));
    if (again) onRepeated?.(again.call_id);
  };
  return (
    <Button size="compact-xs" variant="default" loading={isBusy} onClick={() => run(repeat)}>
      {state === "CONNECTED" ? "Send again" : "Connect and send again"}
    </Button>
  );
}
