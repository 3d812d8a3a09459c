// The last visited address of each screen of each server, and the last server. Kept in
// sessionStorage, so that reloads and switching screens lose nothing.
import { useSyncExternalStore } from "react";
import { readSession, writeSession } from "./browserStorage";
import { withLink } from "./linkFilter";
import type { PageLocation, Screen } from "./navigation";
import { useInspector } from "./store";

const LAST = "server";
const PATHS = "paths";

interface Paths {
  /** Ids of events, calls and tasks restart in each run. */
  run_id: string | null;
  paths: Record<string, string>;
}

const keyOf = (serverId: string, screen: string): string => `${screen} ${serverId}`;

function pathsOfRun(): Paths {
  const { run_id } = useInspector.getState();
  const kept = readSession<Paths | null>(PATHS, null);
  return kept?.run_id === run_id ? kept : { run_id, paths: {} };
}

// Notified when a server becomes the current one without a change of the address.
const listeners = new Set<() => void>();

/** Make a server the current one, wherever the address names none. */
export function rememberServer(serverId: string): void {
  writeSession(LAST, serverId);
  for (const listener of listeners) listener();
}

/** An address of Traffic without the call, exchange or app that it was narrowed to by a link. */
export function withoutLink(path: string): string {
  const [place = "", search = ""] = path.split("?");
  const rest = withLink(new URLSearchParams(search), null).toString();
  return rest ? `${place}?${rest}` : place;
}

/** Remember a visited address. */
export function recordVisit({ server_id, screen }: PageLocation, path: string): void {
  if (server_id === null) return;
  writeSession(LAST, server_id);
  // An earlier session is looked at once: the tab leads back to this one.
  if (screen === "servers" || new URLSearchParams(path.split("?")[1]).has("run")) return;
  const { run_id, paths } = pathsOfRun();
  // Who comes back to Traffic later wants all of it: what is new would not be among these rows.
  const kept = screen === "traffic" ? withoutLink(path) : path;
  writeSession(PATHS, { run_id, paths: { ...paths, [keyOf(server_id, screen)]: kept } });
}

export const lastServerId = (): string | null => readSession<string | null>(LAST, null);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useLastServerId = (): string | null => useSyncExternalStore(subscribe, lastServerId);

/** The last visited address on this screen of the server. */
export const lastPath = (serverId: string, screen: Screen): string | undefined =>
  pathsOfRun().paths[keyOf(serverId, screen)];
