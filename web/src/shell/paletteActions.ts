// Palette entries that run an action: named by verbs, with their shortcut if any.
import { type MantineColorScheme, useMantineColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import { exportPath } from "../api/http";
import type { CallView, ServerView } from "../api/types";
import { cancelCall } from "../calls/CallProgress";
import { isRunning } from "../calls/callStatus";
import { downloadUrl } from "../components/download";
import type { IconName } from "../components/Icon";
import { RESTART_KEY, restart, restartLabel, toggleConnection } from "../servers/connectionActions";
import { askToRemove } from "../servers/removeServer";
import { writeDraft } from "../state/browserStorage";
import { ring } from "../state/events";
import { pathToServer, serverName } from "../state/navigation";
import { useInspector } from "../state/store";
import { fileName } from "../values/fileName";
import type { Entry } from "./paletteEntries";
import { pingServer } from "./TopBar";

export interface PageActions {
  isMonitorOpen: boolean;
  onMonitor(): void;
  onHelp(): void;
}

const THEME_WORDS = "theme appearance colour color scheme night day mode";
const THEMES: { scheme: MantineColorScheme; icon: IconName; label: string }[] = [
  { scheme: "dark", icon: "moon", label: "Use the dark theme" },
  { scheme: "light", icon: "sun", label: "Use the light theme" },
  { scheme: "auto", icon: "system", label: "Use the system theme" },
];

const TRACE_WORDS = "download save jsonl recording traffic har history";

/** Clears the view only; the recording keeps every line. */
function clearLogs(): void {
  const { run_id } = useInspector.getState();
  writeDraft("logs.cleared", { run_id: run_id ?? "", seq: ring.lastSeq ?? 0 });
  notifications.show({ message: "The logs are cleared from view.", color: "lens" });
}

function exportTrace(serverId: string | null): void {
  const { run_id } = useInspector.getState();
  const name = fileName([serverId, "traffic"], "jsonl");
  downloadUrl(exportPath("jsonl", run_id, serverId, name));
}

const SERVER_WORDS: Record<string, string> = {
  restart: "reload kill start again process",
  toggle: "start stop connection on off",
  ping: "latency alive health",
  edit: "change configure headers environment command url timeout",
  remove: "delete forget",
  info: "capabilities version instructions about pid uptime details",
};

/** Actions for a server; the shortcut restarts only the current one. */
function ofServer(server: ServerView, isShown: boolean): Entry[] {
  const { server_id, state, transport, is_editable } = server;
  const name = serverName(server);
  const isOn = state === "CONNECTED" || state === "CONNECTING";
  const entry = (key: string, icon: IconName, verb: string, about: string, to: Entry["to"]) => ({
    key: `${key} ${server_id}`,
    icon,
    label: `${verb} ${name}`,
    about,
    words: SERVER_WORDS[key] ?? "",
    to,
  });
  const what = transport === "stdio" ? "its process" : "a new connection";
  const again = entry("restart", "refresh", restartLabel(server), what, () => restart(server));
  const edit = `/servers?edit=${encodeURIComponent(server_id)}`;
  return [
    isShown ? { ...again, shortcut: RESTART_KEY.shown } : again,
    ...(state === "DISCONNECTING"
      ? []
      : [
          entry("toggle", isOn ? "stop" : "play", isOn ? "Disconnect" : "Connect", "", () =>
            toggleConnection(server),
          ),
        ]),
    ...(state === "CONNECTED"
      ? [entry("ping", "traffic", "Ping", "", () => pingServer(server_id))]
      : []),
    ...(is_editable ? [{ ...entry("edit", "edit", "Edit", "", edit), focus: null }] : []),
    ...(server.is_removable
      ? [entry("remove", "trash", "Remove", "asks first", () => askToRemove(server))]
      : []),
    {
      ...entry("info", "info", "Show info about", "", pathToServer(server_id)),
      focus: "heading",
    },
  ];
}

const cancelling = (call: CallView): Entry => ({
  key: `cancel ${call.call_id}`,
  icon: "stop",
  label: `Cancel ${call.name || call.method}`,
  about: `running call · ${call.server_id}`,
  to: () => cancelCall(call),
});

function ofPage(
  { isMonitorOpen, onMonitor, onHelp }: PageActions,
  server: ServerView | null,
): Entry[] {
  const trace = server && {
    key: "export",
    icon: "download" as const,
    label: `Export the trace of ${serverName(server)}`,
    about: "JSON Lines",
    words: TRACE_WORDS,
    to: () => exportTrace(server.server_id),
  };
  return [
    {
      key: "add",
      icon: "add",
      label: "Add a server",
      about: "",
      words: "new import paste command url claude cursor vscode mcp.json connect",
      to: "/servers?add",
      focus: null,
    },
    {
      key: "monitor",
      icon: "panelBottom",
      label: isMonitorOpen ? "Close the monitor" : "Open the monitor",
      about: "",
      words: "dock panel devtools sidebar",
      shortcut: "m",
      to: onMonitor,
    },
    {
      key: "clear logs",
      icon: "clear",
      label: "Clear the logs",
      words: "empty reset stderr console",
      about: "from view; the recording keeps them",
      to: clearLogs,
    },
    ...(trace ? [trace] : []),
    {
      key: "export all",
      icon: "download",
      label: "Export the trace of all servers",
      about: "JSON Lines",
      words: TRACE_WORDS,
      to: () => exportTrace(null),
    },
    {
      key: "keys",
      icon: "keyboard",
      label: "Show the keyboard shortcuts",
      about: "",
      words: "keys hotkeys help bindings",
      shortcut: "?",
      to: onHelp,
    },
  ];
}

function useThemes(): Entry[] {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return useMemo(
    () =>
      THEMES.filter(({ scheme }) => scheme !== colorScheme).map(({ scheme, icon, label }) => ({
        key: `theme ${scheme}`,
        icon,
        label,
        about: "",
        words: THEME_WORDS,
        to: () => setColorScheme(scheme),
      })),
    [colorScheme, setColorScheme],
  );
}

/** Actions for the current server and the page, and those for other servers. */
export function useActions(
  page: PageActions,
  shown: ServerView | null,
): { first: Entry[]; others: Entry[] } {
  const { isMonitorOpen, onMonitor, onHelp } = page;
  const servers = useInspector((state) => state.servers);
  const calls = useInspector((state) => state.calls);
  const themes = useThemes();
  return useMemo(() => {
    const running = [...calls.values()].filter(isRunning).reverse();
    const others = [...servers.values()].filter(({ server_id }) => server_id !== shown?.server_id);
    return {
      first: [
        ...running.map(cancelling),
        ...(shown ? ofServer(shown, true) : []),
        ...ofPage({ isMonitorOpen, onMonitor, onHelp }, shown),
        ...themes,
      ],
      others: others.flatMap((server) => ofServer(server, false)),
    };
  }, [calls, servers, shown, isMonitorOpen, onMonitor, onHelp, themes]);
}
