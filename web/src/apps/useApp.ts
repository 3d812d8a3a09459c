// One app in a frame: opened by the backend, relayed by the proxy of the second port.
import { useComputedColorScheme } from "@mantine/core";
import { type RefObject, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { AppView } from "../api/types";
import { downloadFile } from "../components/download";
import { command, socket } from "../state/commands";
import { useInspector } from "../state/store";
import { errorMessage } from "../values/format";
import { bytesOfBase64 } from "../values/json";
import type { JsonObject } from "../values/jsonObject";
import { AppHost } from "./AppHost";
import type { AppState, HostOptions } from "./appState";
import { type AppFile, type AppMessage, PROXY_READY, RESOURCE_READY } from "./dialect";
import {
  changedContext,
  type FrameSize,
  type HostSettings,
  hostContext,
  PERMISSIONS,
  type Permission,
} from "./hostSettings";

// A proxy of this machine answers at once, one behind a tunnel soon.
const REACH_MS = 5_000;
// An app that has not said hello by then is blank; a bundle of some megabytes starts in less.
export const DUE_MS = 2_500;

export interface RunningApp {
  view: AppView | null;
  host: AppHost | null;
  /** Why it could not be opened. */
  problem: string | null;
  isUnreachable: boolean;
  isDue: boolean;
  frame: RefObject<HTMLIFrameElement | null>;
  proxyUrl: string | null;
}

interface Wanted {
  serverId: string;
  tool: string;
  settings: HostSettings;
  /** Counts up to open it anew. */
  turn: number;
  size: FrameSize;
  /** The id of the call's request, for the app. */
  requestId: string | number | null;
}

function saveFile({ name, mimeType, text, blob }: AppFile): void {
  const bytes = text ?? (blob === undefined ? null : bytesOfBase64(blob));
  if (bytes !== null) downloadFile(bytes, name, mimeType);
}

/** Opens the app, anew whenever what it is opened with changes. */
function useOpened({ serverId, tool, settings, turn }: Wanted) {
  const [opened, setOpened] = useState<{ view: AppView | null; problem: string | null }>({
    view: null,
    problem: null,
  });
  const { policy: profile, allowsPrivate: allows_private } = settings;
  const reopened = `${turn} ${settings.capabilities} ${settings.modes} ${settings.permissions}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what an app was told once is told anew
  useEffect(() => {
    let isGone = false;
    setOpened({ view: null, problem: null });
    command("OpenApp", { server_id: serverId, tool, profile, allows_private }).then(
      (view) => !isGone && setOpened({ view, problem: null }),
      (thrown) => !isGone && setOpened({ view: null, problem: errorMessage(thrown) }),
    );
    return () => {
      isGone = true;
    };
  }, [serverId, tool, profile, allows_private, reopened]);
  return opened;
}

const optionsFor = (
  view: AppView,
  { settings, requestId }: Wanted,
  context: Record<string, unknown>,
  post: (message: AppMessage) => void,
  running: Set<Promise<unknown>>,
): HostOptions => ({
  capabilities: settings.capabilities,
  modes: settings.modes,
  context,
  toolInfo: {
    ...(requestId === null ? {} : { id: requestId }),
    tool: view.tool_definition as JsonObject,
  },
  sandbox: sandboxOf(view, settings),
  version: useInspector.getState().version,
  post,
  record: (side, text, refusal) =>
    void command("RecordAppMessage", { app_id: view.app_id, side, text, refusal }).catch(() => {}),
  request: async (text) => {
    const reply = command("RequestForApp", { app_id: view.app_id, text });
    running.add(reply);
    try {
      return (await reply).message as AppMessage;
    } finally {
      running.delete(reply);
    }
  },
  openLink: (url) => void window.open(url, "_blank", "noopener,noreferrer"),
  saveFile,
});

/** The permissions of an app: those that it asks for, and that the person granted. */
export const grantedTo = (view: AppView, settings: HostSettings): Permission[] =>
  settings.permissions.filter((one) => view.permissions.includes(one));

/** The attribute of a frame that gives an app what it was granted. */
export const allowOf = (view: AppView, settings: HostSettings): string =>
  grantedTo(view, settings)
    .map((one) => `${PERMISSIONS[one]} *`)
    .join("; ");

/** What an app was given of what it declares. */
function sandboxOf(view: AppView, settings: HostSettings): JsonObject {
  const csp: Record<string, string[]> = {};
  for (const { key, value, refusal } of view.domains)
    if (refusal === null) csp[key] = [...(csp[key] ?? []), value];
  const granted = grantedTo(view, settings).map((one) => [one, {}]);
  return { csp, permissions: Object.fromEntries(granted) };
}

/** Whether a time has passed since an app was opened. */
function useElapsed(appId: string | undefined, most: number): boolean {
  const [passed, setPassed] = useState<string | null>(null);
  useEffect(() => {
    if (appId === undefined) return;
    const timer = setTimeout(() => setPassed(appId), most);
    return () => clearTimeout(timer);
  }, [appId, most]);
  return appId !== undefined && passed === appId;
}

const nothing = (): (() => void) => () => {};

export function useHostState(host: AppHost | null): AppState | null {
  return useSyncExternalStore(host?.subscribe ?? nothing, () => host?.state ?? null);
}

/** The context with the size that a frame really has, where the app fills the window. */
function measured(
  context: Record<string, unknown>,
  frame: HTMLIFrameElement | null,
): Record<string, unknown> {
  if (context.displayMode !== "fullscreen" || !frame) return context;
  const { clientWidth: width, clientHeight: height } = frame;
  return { ...context, containerDimensions: { width, height } };
}

export function useApp(wanted: Wanted): RunningApp {
  const { view, problem } = useOpened(wanted);
  const frame = useRef<HTMLIFrameElement | null>(null);
  const theme = useComputedColorScheme("light");
  const [host, setHost] = useState<AppHost | null>(null);
  const [isReached, setReached] = useState(false);
  // The app may have asked for another mode than the host began with.
  const mode = useHostState(host)?.toldMode ?? wanted.settings.displayMode;
  const context = useMemo(
    () => hostContext({ ...wanted.settings, displayMode: mode }, theme, wanted.size),
    [wanted.settings, mode, theme, wanted.size],
  );
  const told = useRef(context);
  const origin = view && `http://${location.hostname}:${view.port}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the context that it starts with
  useEffect(() => {
    if (!view || !origin) return;
    // An answer that comes after the app was opened anew is not for the new one.
    let isGone = false;
    const post = (message: unknown): void => {
      if (!isGone) frame.current?.contentWindow?.postMessage(message, origin);
    };
    told.current = hostContext(wanted.settings, theme, wanted.size);
    // A question of an app that is gone is withdrawn.
    const running = new Set<Promise<unknown>>();
    const made = new AppHost(optionsFor(view, wanted, told.current, post, running));
    setHost(made);
    setReached(false);
    const allow = allowOf(view, wanted.settings);
    const hear = ({ source, origin: from, data }: MessageEvent): void => {
      if (source !== frame.current?.contentWindow || from !== origin) return;
      if (data?.method === PROXY_READY) {
        setReached(true);
        post({ jsonrpc: "2.0", method: RESOURCE_READY, params: { key: view.key, allow } });
      } else made.receive(data);
    };
    addEventListener("message", hear);
    return () => {
      isGone = true;
      for (const reply of running) socket.abandon(reply);
      removeEventListener("message", hear);
    };
  }, [view, origin]);
  const { displayMode } = wanted.settings;
  useEffect(() => host?.changeContext({ displayMode }), [host, displayMode]);
  useEffect(() => {
    const now = measured(context, frame.current);
    host?.changeContext(changedContext(told.current, now));
    told.current = now;
  }, [host, context]);
  const isLate = useElapsed(view?.app_id, REACH_MS);
  return {
    view,
    host,
    problem,
    isUnreachable: isLate && !isReached,
    isDue: useElapsed(view?.app_id, DUE_MS),
    frame,
    proxyUrl: origin && `${origin}/proxy`,
  };
}
