// Toasts of what passes: a server was connected, could not be, or was lost; a call failed that is
// not on the screen. Several at once are one toast. What persists is on the server's card.
import { notifications } from "@mantine/notifications";
import { createElement, type ReactNode } from "react";
import type { CallView, ServerView } from "../api/types";
import { withoutAnsi } from "../values/ansi";
import { pluralize, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { isRetrying, needsSignIn } from "../values/serverState";
import { isOnScreen } from "./onScreen";
import { nameOf, pathToCall } from "./selection";
import { useInspector } from "./store";

type Servers = ReadonlyMap<string, ServerView>;
type Calls = ReadonlyMap<string, CallView>;

interface Tidings {
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
  servers.length > FEW ? pluralize(servers.length, "server") : servers.map(nameOf).join(", ");

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
      const text = `${truncate(visible(withoutAnsi(server.error?.message ?? "")), 100)} `;
      const color = isClosed ? "yellow" : "red";
      notifications.show({ color, title, message: help(server, text) });
    }
}

const isBad = (call: CallView): boolean => call.status === "error" || call.is_error;

/** The calls that failed between two states of the store. */
const failedCalls = (before: Calls, after: Calls): CallView[] =>
  [...after.values()].filter((call) => {
    const was = before.get(call.call_id);
    return was !== call && isBad(call) && !(was && isBad(was));
  });

type Go = (path: string) => void;

function tellOfCall(call: CallView, go: Go): void {
  const { error, kind } = call;
  const id = `call ${call.call_id}`;
  const name = visible(call.name || call.method || "raw");
  const path = pathToCall(call);
  const onClick = (event: { preventDefault(): void }): void => {
    event.preventDefault();
    notifications.hide(id);
    go(path);
  };
  const text = error
    ? `${name}: ${truncate(visible(withoutAnsi(error.message)), 100)} `
    : `${name} reports an error. `;
  const parts: ReactNode[] = [text, createElement("a", { href: path, onClick }, "Show the call")];
  if (error) {
    const help = { href: error.helpUrl, target: "_blank", rel: "noreferrer" };
    parts.push(" · ", createElement("a", help, "View documentation"));
  }
  const title = kind === "tool" ? "Tool execution failed" : "A call failed";
  const message = createElement("span", null, ...parts);
  notifications.show({ id, color: "red", title, message });
}

/** Tell of calls that fail where nobody sees it, from now on. */
export function watchCalls(go: Go): () => void {
  let heard: CallView[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    // By now the panel of a call that failed at once is there.
    const unseen = heard.filter((call) => !isOnScreen(call.call_id));
    heard = [];
    timer = undefined;
    if (unseen.length > FEW)
      notifications.show({ color: "red", message: `${pluralize(unseen.length, "call")} failed` });
    else for (const call of unseen) tellOfCall(call, go);
  };
  const stop = useInspector.subscribe((state, former) => {
    if (state.calls === former.calls || former.run_id !== state.run_id) return;
    heard.push(...failedCalls(former.calls, state.calls));
    if (heard.length > 0) timer ??= setTimeout(flush, TOGETHER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Tell of servers from now on. */
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
