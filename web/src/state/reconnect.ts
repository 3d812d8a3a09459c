// Connect a server and wait until it is connected, or until that has failed.
import { command } from "./connection";
import { useInspector } from "./store";

/** Whether it is connected in the end. The screens show why not. */
export async function reconnect(serverId: string): Promise<boolean> {
  const stateOf = () => useInspector.getState().servers.get(serverId)?.state;
  if (stateOf() === "CONNECTED") return true;
  let stop: () => void = () => undefined;
  // A server that failed says ERROR until the new attempt begins.
  let hasBegun = stateOf() === "CONNECTING";
  const settled = new Promise<boolean>((resolve) => {
    stop = useInspector.subscribe(() => {
      const state = stateOf();
      if (state === "CONNECTING") hasBegun = true;
      else if (state === "CONNECTED") resolve(true);
      else if (hasBegun || state === undefined) resolve(false);
    });
  });
  try {
    await command("Connect", { server_id: serverId });
    return stateOf() === "CONNECTED" || (await settled);
  } finally {
    stop();
  }
}
