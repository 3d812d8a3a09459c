// Catalog lists of servers, fetched when a screen needs them and again after a change. Items are
// added as they arrive: the first rows are shown before the last page.
import { useCallback, useEffect, useRef } from "react";
import { create } from "zustand";
import { CommandError } from "../api/socket";
import type {
  ErrorView,
  ListChangeView,
  ListKind,
  ListSummary,
  ListView,
  ServerView,
} from "../api/types";
import { fieldsOf } from "../values/jsonObject";
import { command } from "./commands";
import { type Item, itemOf, withUniqueKeys } from "./items";
import { TASKS_EXTENSION } from "./protocol";
import { useInspector } from "./store";

export interface LoadedList {
  items: Item<unknown>[];
  /** How many items may be offered to a model; the others are at the end. */
  count: number;
  /** When the backend fetched it; identifies the fetch. 0: not yet. */
  fetched: number;
  /** What the server changed; null if nothing or unknown. */
  change: ListChangeView | null;
  isLoading: boolean;
  error: ErrorView | null;
}

// First a screenful, so that something is shown at once; then the rest.
const FIRST = 100;
const MOST = 10_000;
// Poll interval of a list that keeps growing.
const PAUSE_MS = 80;

const NONE: LoadedList = {
  items: [],
  count: 0,
  fetched: 0,
  change: null,
  isLoading: false,
  error: null,
};
const useLoadedLists = create<Record<string, LoadedList>>()(() => ({}));
const loadedList = (key: string): LoadedList => useLoadedLists.getState()[key] ?? NONE;
const put = (key: string, held: Partial<LoadedList>): void =>
  useLoadedLists.setState({ [key]: { ...loadedList(key), ...held } });
const keyOf = (serverId: string, kind: ListKind): string => `${serverId} ${kind}`;

interface InFlight {
  work: Promise<void>;
  /** When its server connected; null if it was not connected. */
  connected: number | null;
}

const inFlight = new Map<string, InFlight>();

const connectedSince = (server: ServerView | undefined): number | null =>
  server?.state === "CONNECTED" ? server.since : null;

/** Fetch a list; concurrent requests for the same one of the same connection share a promise. */
export function loadList(serverId: string, kind: ListKind, refresh = false): Promise<void> {
  const key = keyOf(serverId, kind);
  const connected = connectedSince(useInspector.getState().servers.get(serverId));
  const running = inFlight.get(key);
  if (running && !refresh && running.connected === connected) return running.work;
  const isWanted = (): boolean => inFlight.get(key)?.work === work;
  const work: Promise<void> = fetchList(serverId, kind, refresh, isWanted).finally(
    () => isWanted() && inFlight.delete(key),
  );
  // It replaces the request in flight.
  inFlight.set(key, { work, connected });
  return work;
}

async function fetchList(
  serverId: string,
  kind: ListKind,
  refresh: boolean,
  isWanted: () => boolean,
): Promise<void> {
  const key = keyOf(serverId, kind);
  put(key, { isLoading: true, error: null });
  try {
    for (let turn = 0; ; turn++) {
      const { count, fetched } = loadedList(key);
      const reply = await command("List", {
        server_id: serverId,
        kind,
        refresh: refresh && turn === 0,
        one_page: usePaging.getState().isOnePage,
        after: count,
        of: fetched,
        most: count ? MOST : FIRST,
      });
      if (!isWanted()) return;
      put(key, mergeReply(loadedList(key), reply));
      if (reply.is_complete) break;
      if (turn > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    put(key, { isLoading: false });
  } catch (thrown) {
    const error = thrown instanceof CommandError ? thrown.view : null;
    if (isWanted()) put(key, { isLoading: false, error });
  }
}

/** The loaded list with a reply merged in. */
export function mergeReply(held: LoadedList, reply: ListView): Partial<LoadedList> {
  const { start, items, dropped, kind, fetched, change } = reply;
  const isSame = items.length === 0 && start === held.count && fetched === held.fetched;
  if (isSame && held.items.length === start + dropped.length) return {};
  const kept = held.items.slice(0, start);
  const came = [...items, ...dropped].map((view, index) => itemOf(kind, view, start + index));
  return { items: withUniqueKeys(kind, kept, came), count: start + items.length, fetched, change };
}

export interface List extends LoadedList {
  /** The backend's status of the list; null before it was requested. */
  summary: ListSummary | null;
  /** There is something to show, connected or not. */
  isThere: boolean;
}

/** A list of a server; fetched on first use, and when the server reports a change. */
export function useList(serverId: string, kind: ListKind): List {
  const held = useLoadedLists((state) => state[keyOf(serverId, kind)]) ?? NONE;
  const server = useInspector((state) => state.servers.get(serverId));
  const isConnected = server?.state === "CONNECTED";
  const summary = server?.lists.find((list) => list.kind === kind) ?? null;
  const stamp = summary?.fetched ?? 0;
  const isOffered = isConnected && offers(server.capabilities, kind);
  // A restart may be over before the page has drawn that the server was disconnected.
  const connection = connectedSince(server);
  const isLinked = useInspector((state) => state.link.state === "open");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stamp or count means a new list
  useEffect(() => {
    // The backend keeps the lists of disconnected servers.
    if (isLinked && (isOffered || stamp > 0)) void loadList(serverId, kind);
  }, [serverId, kind, isLinked, isOffered, connection, stamp, summary?.count]);
  const isThere = held.fetched > 0 || stamp > 0;
  return { ...held, error: held.error ?? summary?.error ?? null, summary, isThere };
}

/** Whether a missing item may still be loading. */
export const isStillLoading = (server: ServerView, list: List): boolean =>
  server.state === "CONNECTED" && (list.isLoading || list.summary === null);

export function offers(capabilities: Record<string, unknown>, kind: ListKind): boolean {
  return (kind === "resource_templates" ? "resources" : kind) in capabilities;
}

export const CATALOGS = ["tools", "resources", "prompts"] as const;

/** Whether a server declared that it runs calls as tasks. */
export const offersTasks = (capabilities: Record<string, unknown>): boolean =>
  "tasks" in capabilities || TASKS_EXTENSION in fieldsOf(capabilities.extensions);

/** What a server did not declare, in words. */
export const notOffered = (capabilities: Record<string, unknown>): string[] => [
  ...CATALOGS.filter((kind) => !offers(capabilities, kind)),
  ...(offersTasks(capabilities) ? [] : ["tasks"]),
];

/** The items of a list as the screen's own type; broken ones are kept, with their problem. */
export const itemsIn = <T>(held: LoadedList): Item<T>[] => held.items as Item<T>[];

// -- page by page ------------------------------------------------------------------------------

const PAGING = "mcplens.lists.onePage";

/** Whether a list is fetched one page at a time; remembered. */
export const usePaging = create<{ isOnePage: boolean }>()(() => ({
  isOnePage: localStorage.getItem(PAGING) === "true",
}));

export function setOnePage(isOnePage: boolean): void {
  usePaging.setState({ isOnePage });
  try {
    localStorage.setItem(PAGING, String(isOnePage));
  } catch {
    // A full storage only costs the memory of it.
  }
}

/** Fetch the next page or pages. */
export async function loadMore(serverId: string, kind: ListKind, onePage: boolean): Promise<void> {
  try {
    await command("MoreOfList", { server_id: serverId, kind, one_page: onePage });
  } catch (thrown) {
    if (thrown instanceof CommandError) put(keyOf(serverId, kind), { error: thrown.view });
    return;
  }
  await loadList(serverId, kind);
}

// -- the palette -------------------------------------------------------------------------------

const KINDS: ListKind[] = ["tools", "resources", "resource_templates", "prompts"];

/** Whether a list is loaded as the backend has it now. */
function isLoaded({ server_id, lists }: ServerView, kind: ListKind): boolean {
  const held = loadedList(keyOf(server_id, kind));
  const now = lists.find((list) => list.kind === kind);
  if (!now || now.is_changed || held.isLoading || held.error) return false;
  return held.fetched > 0 && held.fetched === now.fetched && held.count === now.count;
}

/**
 * Loads what all connected servers offer, each list once while mounted, those of the current server
 * first. Returns the servers whose lists are still loading.
 */
export function useLoadAll(current: string | undefined): ServerView[] {
  const servers = useInspector((state) => state.servers);
  const all = useLoadedLists();
  const asked = useRef(new Set<string>());
  const connected = [...servers.values()]
    .filter((server) => server.state === "CONNECTED")
    .sort((one, other) => Number(other.server_id === current) - Number(one.server_id === current));
  const names = connected.map((server) => server.server_id).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once more for each that connects
  useEffect(() => {
    for (const server of connected) {
      for (const kind of KINDS) {
        const key = keyOf(server.server_id, kind);
        if (asked.current.has(key) || !offers(server.capabilities, kind)) continue;
        asked.current.add(key);
        if (!isLoaded(server, kind)) void loadList(server.server_id, kind);
      }
    }
  }, [names]);
  return connected.filter(({ server_id }) =>
    KINDS.some((kind) => all[keyOf(server_id, kind)]?.isLoading),
  );
}

/** The loaded items of all lists. */
export function useAllItems(): (serverId: string, kind: ListKind) => Item<unknown>[] {
  const all = useLoadedLists();
  return useCallback((serverId, kind) => all[keyOf(serverId, kind)]?.items ?? NONE.items, [all]);
}
