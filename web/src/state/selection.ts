// Which server and screen the address names, and how addresses are made.
import { useLocation, useNavigate } from "react-router";
import type { CallView, QuestionView, ServerView } from "../api/types";
import { useInspector } from "./store";

export const SCREENS = [
  "tools",
  "resources",
  "prompts",
  "tasks",
  "logs",
  "traffic",
  "auth",
] as const;
export type Screen = (typeof SCREENS)[number];

export const pathTo = (serverId: string, screen: Screen, item?: string | number): string =>
  `/s/${encodeURIComponent(serverId)}/${screen}${item === undefined ? "" : `/${encodeURIComponent(item)}`}`;

export const pathToServer = (serverId: string, part?: "roots" | "experimental"): string =>
  `/servers/${encodeURIComponent(serverId)}${part ? `/${part}` : ""}`;

export const pathToQuestion = (question: QuestionView): string =>
  `/questions/${encodeURIComponent(question.question_id)}`;

/** Where a call is looked at. */
export function pathToCall(call: CallView): string {
  const { kind, server_id } = call;
  const query = `?call=${encodeURIComponent(call.call_id)}`;
  if (kind === "tool") return pathTo(server_id, "tools", call.name) + query;
  if (kind === "prompt") return pathTo(server_id, "prompts", call.name) + query;
  if (kind === "resource") return pathTo(server_id, "resources", call.name) + query;
  if (kind === "raw") return pathToServer(server_id, "experimental") + query;
  const id = call.request_id === null ? "" : `?id=${encodeURIComponent(call.request_id)}`;
  return pathTo(server_id, "traffic") + id;
}

/** What a server is called on the screen. */
export const nameOf = (server: ServerView): string => server.title ?? server.server_id;

export interface Place {
  server_id: string | null;
  screen: string;
  item: string | null;
}

/** A part of an address as it was before it was encoded; what nobody encoded stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function placeOf(pathname: string): Place {
  const [first = "", second, third, fourth] = pathname.split("/").slice(1).map(decoded);
  if (first === "s")
    return { server_id: second || null, screen: third || "tools", item: fourth || null };
  if (first === "servers")
    return { server_id: second || null, screen: "servers", item: third || null };
  return { server_id: null, screen: first || "servers", item: second || null };
}

/** The parts of the address. The router's own params turn `%2F` inside an item into a slash. */
export const usePlace = (): Place => placeOf(useLocation().pathname);

let last: string | null = null;

/** The server that work screens show: the address's, else the one looked at last, else the first. */
export function useCurrentServer(): ServerView | null {
  const { server_id } = usePlace();
  if (server_id) last = server_id;
  return useInspector((state) => {
    const wanted = [server_id, last, state.first_server_id];
    for (const id of wanted) {
      const found = id ? state.servers.get(id) : undefined;
      if (found) return found;
    }
    for (const server of state.servers.values()) if (server.state === "CONNECTED") return server;
    return state.servers.values().next().value ?? null;
  });
}

/** Go to the same screen of another server. */
export function useSwitchServer(): (serverId: string) => void {
  const { screen } = usePlace();
  const navigate = useNavigate();
  return (serverId) => {
    const known = SCREENS.find((one) => one === screen);
    void navigate(known ? pathTo(serverId, known) : pathTo(serverId, "tools"));
  };
}
