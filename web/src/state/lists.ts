// The lists that servers offer, fetched when a screen wants them and again when they changed.
import { useEffect, useMemo } from "react";
import { create } from "zustand";
import { CommandError } from "../api/socket";
import type { ErrorView, ItemView, ListKind, ListView } from "../api/types";
import { command } from "./connection";
import { useInspector } from "./store";

export interface Held {
  list: ListView | null;
  isLoading: boolean;
  error: ErrorView | null;
}

const NONE: Held = { list: null, isLoading: false, error: null };
const useHeld = create<Record<string, Held>>()(() => ({}));
const put = (key: string, held: Partial<Held>): void =>
  useHeld.setState((state) => ({ [key]: { ...NONE, ...state[key], ...held } }));

const underWay = new Map<string, Promise<void>>();

/** Fetch a list; two parts of a screen that want the same one share the answer. */
export function loadList(serverId: string, kind: ListKind, refresh = false): Promise<void> {
  const key = `${serverId} ${kind}`;
  const running = underWay.get(key);
  if (running && !refresh) return running;
  const work = fetchList(key, serverId, kind, refresh).finally(() => underWay.delete(key));
  underWay.set(key, work);
  return work;
}

async function fetchList(
  key: string,
  serverId: string,
  kind: ListKind,
  refresh: boolean,
): Promise<void> {
  put(key, { isLoading: true });
  try {
    const list = await command("List", { server_id: serverId, kind, refresh });
    put(key, { list, isLoading: false, error: null });
  } catch (thrown) {
    const error = thrown instanceof CommandError ? thrown.view : null;
    put(key, { isLoading: false, error });
  }
}

/** A list of a server; fetched when first looked at, and when the server says that it changed. */
export function useList(serverId: string, kind: ListKind): Held {
  const held = useHeld((state) => state[`${serverId} ${kind}`]) ?? NONE;
  const server = useInspector((state) => state.servers.get(serverId));
  const isConnected = server?.state === "CONNECTED";
  const summary = server?.lists.find((list) => list.kind === kind);
  const stamp = summary?.fetched ?? 0;
  const isOffered = offers(server?.capabilities ?? {}, kind);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stamp means a new list
  useEffect(() => {
    if (isConnected && isOffered) void loadList(serverId, kind);
  }, [serverId, kind, isConnected, isOffered, stamp]);
  return held;
}

export function offers(capabilities: Record<string, unknown>, kind: ListKind): boolean {
  return (kind === "resource_templates" ? "resources" : kind) in capabilities;
}

export interface Item<T> {
  value: T;
  problem: string | null;
}

/** The items of a list as the screen's own type; broken ones are kept, with their problem. */
export function useItems<T>(held: Held): Item<T>[] {
  return useMemo(() => {
    const all: ItemView[] = [...(held.list?.items ?? []), ...(held.list?.dropped ?? [])];
    return all.map((item) => ({ value: (item.value ?? {}) as T, problem: item.problem }));
  }, [held.list]);
}

/** What is held of a list right now, for the palette. */
export function itemsOf(serverId: string, kind: ListKind): Record<string, unknown>[] {
  const list = useHeld.getState()[`${serverId} ${kind}`]?.list;
  return (list?.items ?? []).map((item) => (item.value ?? {}) as Record<string, unknown>);
}
