// Toasts of what passes: a server was connected, could not be, or was lost. Several at once are
// one toast. What persists is on the server's card.
import { notifications } from "@mantine/notifications";
import { createElement, type ReactNode } from "react";
import type { ServerView } from "../api/types";
import { counted, cut } from "../parts/format";
import { isRetrying, needsSignIn } from "../parts/StateDot";
import { nameOf } from "./selection";
import { useInspector } from "./store";

type Servers = ReadonlyMap<string, ServerView>;

export interface Tidings {
  connected: ServerView[];
  failed: ServerView[];
  lost: ServerView[];
}

const none = (): Tidings => ({ connected: [], failed: [], lost: [] });

// Long enough for servers that are connected together to be told of together.
const TOGETHER_MS = 250;
// As many are named, or told of one by one.
const FEW = 3;

const isFailed = (server: ServerView): boolean =>
  server.error !== null &&
  (server.state === "DISCONNECTED" || server.state === "ERROR") &&
  !isRetrying(server);

/** Whether a failure is new, and not what was left of one when somebody called it off. */
function hasFailed(was: ServerView, now: ServerView): boolean {
  const error = now.error;
  if (!error || !isFailed(now) || was.state === "DISCONNECTING") return false;
  // The answer to Connect tells it already.
  if (error.code === "CONFIGURATION_INVALID") return false;
  if (was.error?.message !== error.message) return true;
  if (was.state !== "CONNECTING") return false;
  return was.retry === null || typeof error.details.attempts === "number";
}

/** What happened between two states of the store; a server that is new to the page is no news. */
export function tidingsOf(before: Servers, after: Servers): Tidings {
  const tidings = none();
  for (const [id, now] of after) {
    const was = before.get(id);
    if (!was || was === now) continue;
    if (now.state === "CONNECTED" && was.state !== "CONNECTED") tidings.connected.push(now);
    else if (was.state === "CONNECTED" && isFailed(now)) tidings.lost.push(now);
    else if (hasFailed(was, now)) tidings.failed.push(now);
  }
  return tidings;
}

const names = (servers: ServerView[]): string =>
  servers.length > FEW ? counted(servers.length, "server") : servers.map(nameOf).join(", ");

function help(server: ServerView, text: string): ReactNode {
  const link = { href: server.error?.helpUrl, target: "_blank", rel: "noreferrer" };
  return createElement("span", null, text, createElement("a", link, "View documentation"));
}

function tell({ connected, failed, lost }: Tidings): void {
  if (connected.length > 0)
    notifications.show({ message: `Connected to ${names(connected)}`, autoClose: 2500 });
  if (lost.length > FEW)
    notifications.show({ color: "red", message: `Lost the connection to ${names(lost)}` });
  else
    for (const server of lost) {
      const title = `Lost the connection to ${nameOf(server)}`;
      notifications.show({ color: "red", title, message: help(server, "") });
    }
  if (failed.length > FEW)
    notifications.show({ color: "red", message: `${names(failed)} could not be connected` });
  else
    for (const server of failed) {
      const isClosed = needsSignIn(server);
      const title = isClosed
        ? `${nameOf(server)} needs a sign-in`
        : `Could not connect ${nameOf(server)}`;
      const text = `${cut(server.error?.message ?? "", 100)} `;
      const color = isClosed ? "yellow" : "red";
      notifications.show({ color, title, message: help(server, text) });
    }
}

/** Tell of it from now on. */
export function watchConnections(): () => void {
  let heard: Tidings = none();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    const told = heard;
    heard = none();
    timer = undefined;
    tell(told);
  };
  const stop = useInspector.subscribe((state, former) => {
    // The first view of all servers is where the page begins; a restart begins anew.
    if (state.servers === former.servers || former.run_id !== state.run_id) return;
    const news = tidingsOf(former.servers, state.servers);
    if (news.connected.length + news.failed.length + news.lost.length === 0) return;
    heard = {
      connected: [...heard.connected, ...news.connected],
      failed: [...heard.failed, ...news.failed],
      lost: [...heard.lost, ...news.lost],
    };
    timer ??= setTimeout(flush, TOGETHER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
