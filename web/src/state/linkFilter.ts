// What an address asks for by a link: the events of one request, call, HTTP exchange or app.
import type { EventView } from "../api/types";
import type { EventRing } from "./events";

const NAMES = ["request", "call", "exchange", "app"] as const;

export interface LinkFilter {
  name: (typeof NAMES)[number];
  /** The seq of a request, the id of a call, of an exchange or of an app. */
  value: string;
}

/** The link that a query names; null for none. */
export function linkFilterOf(query: URLSearchParams): LinkFilter | null {
  for (const name of NAMES) {
    const value = query.get(name);
    if (value) return { name, value };
  }
  return null;
}

/** A query with another link, or without any. */
export function withLink(query: URLSearchParams, link: LinkFilter | null): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const name of NAMES) next.delete(name);
  if (link) next.set(link.name, link.value);
  return next;
}

export function linkMatcher(
  { links }: Pick<EventRing, "links">,
  link: LinkFilter | null,
): (event: EventView) => boolean {
  if (link === null) return () => true;
  const { name, value } = link;
  if (name === "app") return (event) => links.appIdOf(event) === value;
  if (name === "call") return (event) => links.callIdOf(event) === value;
  const wanted = Number(value);
  if (name === "exchange") return (event) => event.exchange_id === wanted;
  return (event) => links.isOfRequest(event, wanted);
}

/** A request in words, by its method and id. */
export const requestName = ({ method, request_id }: EventView): string =>
  `${method ?? "request"}${request_id === null ? "" : ` with id ${request_id}`}`;

/** A call in words, by the method and ids of its requests. */
function callName(requests: EventView[]): string | null {
  const [first, ...more] = requests;
  if (!first) return null;
  const last = more.at(-1);
  return last
    ? `${first.method ?? "request"} with ids ${first.request_id} to ${last.request_id}`
    : requestName(first);
}

/**
 * In words what a link asks for. A call is named by its JSON-RPC id, which users find in the message
 * too; mcplens's own id of it only where the request is not loaded.
 */
export function linkWords(ring: EventRing, { name, value }: LinkFilter): string {
  if (name === "app") return `the app ${value}`;
  if (name === "exchange") return `HTTP exchange ${value}`;
  if (name === "call") return callName(ring.links.requestsOfCall(value)) ?? `call ${value}`;
  const request = ring.find(Number(value));
  return request ? requestName(request) : `the request of event ${value}`;
}
