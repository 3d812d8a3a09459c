// Parses and builds the page's addresses: server, screen and item.
import { useMemo } from "react";
import { type Location, useLocation, useNavigate } from "react-router";
import type { CallView, QuestionView, ServerView, TaskView } from "../api/types";
import { visible } from "../values/hiddenCharacters";
import { fieldsOf } from "../values/jsonObject";
import { lastPath, recordVisit, useLastServerId } from "./lastVisited";
import { useInspector } from "./store";

const SCREENS = [
  "tools",
  "apps",
  "resources",
  "prompts",
  "tasks",
  "logs",
  "traffic",
  "raw",
  "auth",
  "skills",
] as const;
export type Screen = (typeof SCREENS)[number];

/**
 * Encodes a path segment. Browsers resolve `.` and `..` even if encoded, so these get a `~` prefix,
 * and names that look like that get one more.
 */
const encoded = (part: string | number): string =>
  encodeURIComponent(/^~*\.{1,2}$/.test(String(part)) ? `~${part}` : part);

export const pathTo = (serverId: string, screen: Screen, item?: string | number): string =>
  `/s/${encoded(serverId)}/${screen}${item === undefined ? "" : `/${encoded(item)}`}`;

const PARTS = ["roots", "experimental"] as const;

/** Whether the page of a server has a part of this name. */
export const isServerPart = (part: string): boolean => PARTS.some((one) => one === part);

export const pathToServer = (serverId: string, part?: (typeof PARTS)[number]): string =>
  `/servers/${encoded(serverId)}${part ? `/${part}` : ""}`;

/** Address of a collection, or of all of them. */
export const pathToCollection = (key?: string): string =>
  key === undefined ? "/collections" : `/collections/${encoded(key)}`;

export const pathToQuestion = (question: QuestionView): string =>
  `/questions/${encoded(question.question_id)}`;

/**
 * Both sides may choose the same task id, so the address includes the role of tasks that we hold.
 */
export const pathToTask = (task: TaskView): string =>
  pathTo(task.server_id, "tasks", task.task_id) +
  (task.role === "receiver" ? "?role=receiver" : "");

/** Key of the item that was called: several items may have the same name. */
export const calledItemKey = (call: CallView): string => call.listed_as || call.name;

/** Address of the messages of a call, with one of them open. */
export const pathToCallTraffic = ({ server_id, call_id }: CallView, seq?: number): string =>
  `${pathTo(server_id, "traffic", seq)}?call=${encodeURIComponent(call_id)}`;

/** Address of a call. */
export function pathToCall(call: CallView): string {
  const { kind, server_id } = call;
  const query = `?call=${encodeURIComponent(call.call_id)}`;
  if (kind === "tool") return pathTo(server_id, "tools", calledItemKey(call)) + query;
  if (kind === "prompt") return pathTo(server_id, "prompts", calledItemKey(call)) + query;
  if (kind === "resource") return pathTo(server_id, "resources", calledItemKey(call)) + query;
  if (kind === "raw") return pathTo(server_id, "raw") + query;
  return pathToCallTraffic(call);
}

/** Display name of a server. */
export const serverName = (server: ServerView): string => visible(server.title ?? server.server_id);

export interface PageLocation {
  server_id: string | null;
  screen: string;
  item: string | null;
}

/** Decodes a path segment; invalid encodings stay as they are. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replace(/^~(?=~*\.{1,2}$)/, "");
  } catch {
    return part;
  }
}

export function parseLocation(pathname: string): PageLocation {
  const [first = "", second, third, fourth] = pathname.split("/").slice(1).map(decoded);
  if (first === "s")
    return { server_id: second || null, screen: third || "tools", item: fourth || null };
  if (first === "servers")
    return { server_id: second || null, screen: "servers", item: third || null };
  return { server_id: null, screen: first || "servers", item: second || null };
}

/** Where an address that the page does not have may have been meant to lead. */
export function nearestPath(pathname: string): string {
  const [first, server, third, item] = pathname.split("/").slice(1).map(decoded);
  if ((first !== "servers" && first !== "s") || !server) return "/servers";
  const screen = SCREENS.find((one) => one === third);
  if (screen) return pathTo(server, screen, item || undefined);
  return first === "s" ? pathTo(server, "tools") : pathToServer(server);
}

/** The current page location. The router's own params turn `%2F` inside an item into a slash. */
export function usePageLocation(): PageLocation {
  const { pathname } = useLocation();
  return useMemo(() => parseLocation(pathname), [pathname]);
}

/** The current server: from the address, else the last visited one, else the first. */
export function useCurrentServer(): ServerView | null {
  const { server_id } = usePageLocation();
  const last = useLastServerId();
  return useInspector((state) => {
    if (server_id !== null) return state.servers.get(server_id) ?? null;
    for (const id of [last, state.first_server_id]) {
      const found = id === null ? undefined : state.servers.get(id);
      if (found) return found;
    }
    for (const server of state.servers.values()) if (server.state === "CONNECTED") return server;
    return state.servers.values().next().value ?? null;
  });
}

/** Address of the same screen on another server, as last visited. */
export function pathOnServer({ server_id, screen, item }: PageLocation, serverId: string): string {
  const part = PARTS.find((one) => one === item);
  if (screen === "servers" && server_id !== null) return pathToServer(serverId, part);
  const known = SCREENS.find((one) => one === screen) ?? "tools";
  return lastPath(serverId, known) ?? pathTo(serverId, known);
}

/** Go to the same screen of another server. */
export function useSwitchServer(): (serverId: string) => void {
  const place = usePageLocation();
  const navigate = useNavigate();
  return (serverId) => void navigate(pathOnServer(place, serverId));
}

/** State for a link whose target offers a way back: the address that it was followed from. */
export const fromHere = ({ pathname, search }: Location): { from: string } => ({
  from: pathname + search,
});

/** The address that the current one was opened from, if the link said so. */
export function useOrigin(): string | null {
  const { from } = fieldsOf(useLocation().state);
  return typeof from === "string" ? from : null;
}

/** What is needed of a router to follow its address. */
interface AddressSource {
  readonly state: { location: { pathname: string; search: string } };
  subscribe(onChange: () => void): () => void;
}

/**
 * Remember each visited address, from now on. Taken from the router, not from what React draws: an
 * address that is left again at once may never be drawn.
 */
export function recordVisits(router: AddressSource): void {
  const record = (): void => {
    const { pathname, search } = router.state.location;
    const place = parseLocation(pathname);
    if (useInspector.getState().servers.has(place.server_id ?? ""))
      recordVisit(place, pathname + search);
  };
  router.subscribe(record);
  // Servers are known after the first address, and what was remembered holds for one run.
  useInspector.subscribe((now, before) => {
    if (now.servers !== before.servers || now.run_id !== before.run_id) record();
  });
}
