// Toasts about events: a server connected, failed or was lost; a call failed that is not visible.
// Simultaneous ones are combined. Lasting state is on the server's card.
import { notifications } from "@mantine/notifications";
import { createElement, type ReactNode, useEffect } from "react";
import type { CallView, ServerView } from "../api/types";
import { withoutAnsi } from "../values/ansi";
import { asSentence, pluralize, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { isRetrying, needsSignIn } from "../values/serverState";
import { pathToCall, serverName } from "./navigation";
import { useInspector } from "./store";

type Servers = ReadonlyMap<string, ServerView>;
type Calls = ReadonlyMap<string, CallView>;

interface ConnectionChanges {
  connected: ServerView[];
  failed: ServerView[];
  lost: ServerView[];
}

const noChanges = (): ConnectionChanges => ({ connected: [], failed: [], lost: [] });

// Long enough to combine servers that connect together.
const TOGETHER_MS = 250;
// Up to this many are named, or get a toast each.
const FEW = 3;

const isFailed = (server: ServerView): boolean =>
  server.error !== null &&
  (server.state === "DISCONNECTED" || server.state === "ERROR") &&
  !isRetrying(server);

/** Whether a failure is new, and not the rest of a cancelled attempt. */
function hasFailed(was: ServerView, now: ServerView): boolean {
  const error = now.error;
  if (!error || !isFailed(now) || was.state === "DISCONNECTING") return false;
  // The reply to Connect reports it already.
  if (error.code === "CONFIGURATION_INVALID") return false;
  if (was.error?.message !== error.message) return true;
  if (was.state !== "CONNECTING") return false;
  return was.retry === null || typeof error.details.attempts === "number";
}

/** Connection changes between two states of the store; new servers are ignored. */
export function connectionChanges(before: Servers, after: Servers): ConnectionChanges {
  const changes = noChanges();
  for (const [id, now] of after) {
    const was = before.get(id);
    if (!was || was === now) continue;
    if (now.state === "CONNECTED" && was.state !== "CONNECTED") changes.connected.push(now);
    else if (was.state === "CONNECTED" && isFailed(now)) changes.lost.push(now);
    else if (hasFailed(was, now)) changes.failed.push(now);
  }
  return changes;
}

const names = (servers: ServerView[]): string =>
  servers.length > FEW ? pluralize(servers.length, "server") : servers.map(serverName).join(", ");

function help(server: ServerView, text: string): ReactNode {
  const link = { href: server.error?.helpUrl, target: "_blank", rel: "noreferrer" };
  return createElement("span", null, text, createElement("a", link, "View documentation"));
}

function failureToast(server: ServerView): string {
  const name = serverName(server);
  if (!needsSignIn(server)) return `Could not connect to ${name}`;
  return server.error?.code === "SIGN_IN_FAILED"
    ? `Not signed in to ${name}`
    : `${name} requires sign-in`;
}

const isSignInShown = (server: ServerView): boolean =>
  needsSignIn(server) && shown.has(`sign-in ${server.server_id}`);

/** `again` has the servers that were connected before they failed. */
function notifyChanges(changes: ConnectionChanges, again: ReadonlySet<string>): void {
  const { connected, lost } = changes;
  const failed = changes.failed.filter((server) => !isSignInShown(server));
  const isAgain = connected.every(({ server_id }) => again.has(server_id));
  if (connected.length > 0) {
    const verb = isAgain ? "Reconnected" : "Connected";
    notifications.show({ message: `${verb} to ${names(connected)}`, autoClose: 2500 });
  }
  if (lost.length > FEW)
    notifications.show({ color: "red", message: `Lost the connection to ${names(lost)}` });
  else
    for (const server of lost) {
      const title = `Lost the connection to ${serverName(server)}`;
      notifications.show({ color: "red", title, message: help(server, "") });
    }
  if (failed.length > FEW)
    notifications.show({ color: "red", message: `Could not connect to ${names(failed)}` });
  else
    for (const server of failed) {
      const isClosed = needsSignIn(server);
      const title = failureToast(server);
      const text = `${truncate(asSentence(visible(withoutAnsi(server.error?.message ?? ""))), 100)} `;
      const color = isClosed ? "yellow" : "red";
      notifications.show({ color, title, message: help(server, text) });
    }
}

const callKey = (callId: string): string => `call ${callId}`;

const isFailedCall = (call: CallView): boolean => call.status === "error" || call.is_error;

/** The calls that failed between two states of the store. */
const failedCalls = (before: Calls, after: Calls): CallView[] =>
  [...after.values()].filter((call) => {
    const was = before.get(call.call_id);
    return was !== call && isFailedCall(call) && !(was && isFailedCall(was));
  });

// How many panels show each call or sign-in: its failure is visible there and needs no toast.
const shown = new Map<string, number>();
// Failed calls that a toast is about to report, by the key of their panel.
const unseen = new Map<string, CallView>();

function useMute(key: string): void {
  useEffect(() => {
    shown.set(key, (shown.get(key) ?? 0) + 1);
    unseen.delete(key);
    return () => {
      const left = (shown.get(key) ?? 1) - 1;
      if (left > 0) shown.set(key, left);
      else shown.delete(key);
    };
  }, [key]);
}

/** Show no toast about this call while the component is mounted. */
export const useMuteCall = (callId: string): void => useMute(callKey(callId));

/** Show no toast about a failed sign-in to this server while the component is mounted. */
export const useMuteSignIn = (serverId: string): void => useMute(`sign-in ${serverId}`);

type Navigate = (path: string) => void;

function notifyFailedCall(call: CallView, go: Navigate): void {
  const { error, kind } = call;
  const id = callKey(call.call_id);
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

/** Show toasts about failed calls that are not visible, from now on. */
export function notifyFailedCalls(go: Navigate): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    const calls = [...unseen.values()];
    unseen.clear();
    timer = undefined;
    if (calls.length > FEW)
      notifications.show({ color: "red", message: `${pluralize(calls.length, "call")} failed` });
    else for (const call of calls) notifyFailedCall(call, go);
  };
  const stop = useInspector.subscribe((state, former) => {
    if (state.calls === former.calls || former.run_id !== state.run_id) return;
    // A panel that shows the failure may be gone when the toast is due, or come only by then.
    for (const call of failedCalls(former.calls, state.calls)) {
      const key = callKey(call.call_id);
      if (!shown.has(key)) unseen.set(key, call);
    }
    if (unseen.size > 0) timer ??= setTimeout(flush, TOGETHER_MS);
  });
  return () => {
    clearTimeout(timer);
    unseen.clear();
    stop();
  };
}

/** Show toasts about connections, from now on. */
export function notifyConnections(): () => void {
  let pending: ConnectionChanges = noChanges();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const dropped = new Set<string>();
  const flush = (): void => {
    const told = pending;
    pending = noChanges();
    timer = undefined;
    notifyChanges(told, dropped);
    for (const { server_id } of told.connected) dropped.delete(server_id);
  };
  const stop = useInspector.subscribe((state, former) => {
    // Ignore the initial state, and that after a restart.
    if (state.servers === former.servers || former.run_id !== state.run_id) return;
    for (const [id, { state: was }] of former.servers)
      if (was === "CONNECTED" && state.servers.get(id)?.state === "ERROR") dropped.add(id);
    const news = connectionChanges(former.servers, state.servers);
    if (news.connected.length + news.failed.length + news.lost.length === 0) return;
    pending = {
      connected: [...pending.connected, ...news.connected],
      failed: [...pending.failed, ...news.failed],
      lost: [...pending.lost, ...news.lost],
    };
    timer ??= setTimeout(flush, TOGETHER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
