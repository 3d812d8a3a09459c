import { useMemo } from "react";
import { useSearchParams } from "react-router";
import type { CallView } from "../../api/types";
import { useInspector } from "../../state/store";

/** The calls of one thing, newest first, and the one that the address names. */
export function useCallsOf(
  serverId: string,
  kind: CallView["kind"],
  name: string,
): { calls: CallView[]; current: CallView | null; show(callId: string): void } {
  const all = useInspector((state) => state.calls);
  const [query, setQuery] = useSearchParams();
  const wanted = query.get("call");
  const calls = useMemo(
    () =>
      [...all.values()]
        .filter((call) => call.server_id === serverId && call.kind === kind && call.name === name)
        .sort((one, other) => other.started - one.started),
    [all, serverId, kind, name],
  );
  const current = calls.find((call) => call.call_id === wanted) ?? calls[0] ?? null;
  return { calls, current, show: (callId) => setQuery({ call: callId }, { replace: true }) };
}
