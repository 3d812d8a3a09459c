// The host that a person chose, for all apps; and what they allowed one app, for that app alone.
import { useMemo } from "react";
import { usePreference } from "../state/browserStorage";
import { type Grants, type HostSettings, NO_GRANTS, PROFILES } from "./hostSettings";

// By server and tool, until the page is loaded anew.
const granted = new Map<string, Grants>();

export function useHostSettings(
  serverId: string,
  tool: string,
): [HostSettings, (settings: HostSettings) => void] {
  const [stored, store] = usePreference("apps.host", PROFILES.Specification as HostSettings);
  const key = JSON.stringify([serverId, tool]);
  const grants = granted.get(key) ?? NO_GRANTS;
  const settings = useMemo(() => ({ ...stored, ...grants }), [stored, grants]);
  const change = (next: HostSettings): void => {
    const { allowsPrivate, permissions } = next;
    granted.set(key, { allowsPrivate, permissions });
    store({ ...next, ...NO_GRANTS });
  };
  return [settings, change];
}
