import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import type { CallView } from "../api/types";
import { calledItemKey } from "../state/navigation";
import { useInspector } from "../state/store";

interface Calls {
  calls: CallView[];
  current: CallView | null;
  /** Whether the address names a call. */
  isNamed: boolean;
  show(callId: string): void;
  /** From now on show the newest call, whatever the address names. */
  showNewest(): void;
}

const fromQuery = (query: URLSearchParams): Record<string, string> => Object.fromEntries(query);

/** The calls of one item, newest first, and the one that the address names. */
export function useItemCalls(serverId: string, kind: CallView["kind"], key: string): Calls {
  const all = useInspector((state) => state.calls);
  const [query, setQuery] = useSearchParams();
  const wanted = query.get("call");
  const calls = useMemo(
    () =>
      [...all.values()]
        .filter(
          (call) =>
            call.server_id === serverId && call.kind === kind && calledItemKey(call) === key,
        )
        .sort((one, other) => other.started - one.started),
    [all, serverId, kind, key],
  );
  const current = calls.find((call) => call.call_id === wanted) ?? calls[0] ?? null;
  // The other query parameters say what is shown beside the call.
  const show = useCallback(
    (callId: string) => setQuery((now) => ({ ...fromQuery(now), call: callId }), { replace: true }),
    [setQuery],
  );
  const showNewest = (): void => {
    const { call: _, ...rest } = fromQuery(query);
    if (wanted) setQuery(rest, { replace: true });
  };
  return { calls, current, isNamed: wanted !== null, show, showNewest };
}

/** Whether anything of this kind was called on a server. */
export const useHasCalls = (serverId: string, kind: CallView["kind"]): boolean =>
  useInspector((state) =>
    [...state.calls.values()].some((call) => call.server_id === serverId && call.kind === kind),
  );
