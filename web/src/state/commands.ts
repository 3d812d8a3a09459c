// The page's socket, wired to the store, and the functions that send commands.
import { type Fields, Socket } from "../api/socket";
import type { CallView, Command, Replies } from "../api/types";
import { ring } from "./events";
import { apply, useInspector } from "./store";

export const socket = new Socket({
  message: apply,
  link: (link) => useInspector.setState({ link }),
  place: () => ({ run_id: useInspector.getState().run_id, seq: ring.lastSeq }),
});

/** Send a command; rejects with a CommandError. `raw` has fields that are already JSON text. */
export function command<T extends keyof Replies & Command["type"], Raw extends string = never>(
  type: T,
  fields: Omit<Fields<T>, Raw>,
  raw?: Record<Raw, string>,
): Promise<Replies[T]> {
  return socket.command(type, fields as Fields<T>, raw);
}

/** Send a command that starts a call, and add the call to the store at once. */
export async function startCall<
  T extends
    | "CallTool"
    | "ReadResource"
    | "GetPrompt"
    | "Request"
    | "SendRaw"
    | "ReplayCall"
    | "RepeatCall"
    | "GetTaskResult",
>(type: T, fields: Fields<T>, raw?: Record<string, string>): Promise<CallView> {
  const call: CallView = await command(type, fields, raw);
  useInspector.setState((state) =>
    // A newer view may have arrived before this reply.
    state.calls.has(call.call_id) ? {} : { calls: new Map(state.calls).set(call.call_id, call) },
  );
  return call;
}
