// The screens of the page as tabs: which of them apply to a server, and where each leads.
import type { ServerView } from "../api/types";
import type { IconName } from "../components/Icon";
import { lastPath } from "../state/lastVisited";
import { CATALOGS, offers, offersTasks } from "../state/lists";
import { type PageLocation, pathTo, type Screen } from "../state/navigation";
import { skillSettings } from "../state/protocol";

// Tabs that a key leads to; a screen keeps its key, whichever tabs are shown.
export const DIGITS = 9;

export interface Tab {
  label: string;
  icon: IconName;
  screen: Screen | "servers" | "collections" | "settings" | "gateway";
  /** Other words that people type to find it. */
  words: string;
  /** Of mcplens as a whole, not of the current server: stands at the end of the bar. */
  isGlobal?: boolean;
  /** No key leads to it: it came when the keys were known. */
  isKeyless?: boolean;
}

export const TABS: Tab[] = [
  {
    label: "Servers",
    icon: "servers",
    screen: "servers",
    words: "connections mcp.json configuration start",
  },
  { label: "Tools", icon: "tools", screen: "tools", words: "functions call run actions" },
  { label: "Apps", icon: "apps", screen: "apps", words: "ui widgets html frames", isKeyless: true },
  {
    label: "Resources",
    icon: "resources",
    screen: "resources",
    words: "files templates uri read documents",
  },
  { label: "Prompts", icon: "prompts", screen: "prompts", words: "templates messages" },
  {
    label: "Skills",
    icon: "skills",
    screen: "skills",
    words: "skill.md agent manifest digest",
    isKeyless: true,
  },
  { label: "Tasks", icon: "tasks", screen: "tasks", words: "background jobs long-running" },
  { label: "Logs", icon: "logs", screen: "logs", words: "stderr output console debug" },
  {
    label: "Traffic",
    icon: "traffic",
    screen: "traffic",
    words:
      "history network messages json-rpc jsonrpc raw http frames requests recording har inspector",
  },
  { label: "Auth", icon: "auth", screen: "auth", words: "oauth sign in login token authorization" },
  {
    label: "Settings",
    icon: "settings",
    screen: "settings",
    isGlobal: true,
    words: "preferences options configuration timeout",
  },
  {
    label: "Collections",
    icon: "collections",
    screen: "collections",
    isGlobal: true,
    words: "saved calls examples yaml favourites favorites bookmarks test",
  },
  {
    label: "Gateway",
    icon: "gateway",
    screen: "gateway",
    isGlobal: true,
    words: "agents clients proxy endpoint aggregate views limits audit token inbound connect",
  },
];

/** The screen whose tab an address stands under: the raw tester has none, and is part of Traffic. */
export const tabScreen = ({ screen }: PageLocation): string =>
  screen === "raw" ? "traffic" : screen;

/** Whether a tool of a server has an app. */
const hasApps = (server: ServerView | null): boolean =>
  server?.lists.some((list) => list.has_apps) === true;

/** The tabs that digits lead to, as far as there are digits. */
export const KEYED = TABS.filter(({ isKeyless }) => !isKeyless);

// By server, what it declared when it was last connected: its tabs stay while it restarts.
const declared = new Map<string, Record<string, unknown>>();

function capabilitiesOf({ server_id, state, capabilities }: ServerView): Record<string, unknown> {
  if (state === "CONNECTED") declared.set(server_id, capabilities);
  return declared.get(server_id) ?? capabilities;
}

/** Whether a screen can be gone to: a sign-in, an app or skills only where there are any. */
export function isScreenOffered(
  { screen }: Tab,
  server: ServerView | null,
  place: PageLocation,
): boolean {
  if (screen === place.screen) return true;
  if (screen === "auth") return Boolean(server?.auth);
  if (screen === "apps") return hasApps(server);
  return screen !== "skills" || (server !== null && hasSkills(capabilitiesOf(server)));
}

const hasSkills = (capabilities: Record<string, unknown>): boolean =>
  skillSettings(capabilities) !== undefined;

/** Whether a server was used: only then it has logs. */
export const isUsed = ({
  state,
  error,
  exit,
  stderr_tail,
  protocol_version,
}: ServerView): boolean =>
  state !== "DISCONNECTED" ||
  error !== null ||
  exit !== null ||
  stderr_tail.length > 0 ||
  protocol_version !== null;

/** Whether the bar has a tab: those that apply to the server, and always that of this screen. */
export function isTabShown(
  tab: Tab,
  server: ServerView | null,
  place: PageLocation,
  hasTaskViews: boolean,
): boolean {
  const { screen } = tab;
  if (screen === place.screen) return true;
  if (tab.isGlobal || screen === "servers" || screen === "traffic") return true;
  if (!server || !isScreenOffered(tab, server, place)) return false;
  const capabilities = capabilitiesOf(server);
  const catalog = CATALOGS.find((one) => one === screen);
  if (catalog)
    return offers(capabilities, catalog) || server.lists.some(({ kind }) => kind === catalog);
  if (screen === "tasks") return hasTaskViews || offersTasks(capabilities);
  return screen !== "logs" || isUsed(server);
}

/** Whether a screen belongs to no server. */
const isOfNoServer = (screen: Tab["screen"]): screen is Exclude<Tab["screen"], Screen> =>
  ["servers", "settings", "collections", "gateway"].includes(screen);

/** Target of a tab: the last visited item; on its own screen, the list without a selection. */
export function tabPath({ screen }: Tab, server: ServerView | null, place: PageLocation): string {
  if (isOfNoServer(screen)) return `/${screen}`;
  if (!server) return screen === "traffic" || screen === "logs" ? `/${screen}` : "/servers";
  const bare = pathTo(server.server_id, screen);
  return place.screen === screen ? bare : (lastPath(server.server_id, screen) ?? bare);
}

/** Whether a tab says how many items there are. */
export const isCounted = ({ screen }: Tab): boolean => CATALOGS.some((one) => one === screen);

/** How many items a server lists on a screen; null if that is not known. */
export const countOf = (server: ServerView | null, screen: string): number | null =>
  server?.lists.find((list) => list.kind === screen)?.count ?? null;

/** Shortened, so that thousands take no more space than hundreds. */
export const short = (count: number): string =>
  count < 1000 ? String(count) : `${Math.floor(count / 1000).toLocaleString("en")}k`;

/** The key that leads to a screen, if it has one. */
export function keyOfTab(tab: Tab): string | null {
  const index = KEYED.indexOf(tab);
  return index >= 0 && index < DIGITS ? String(index + 1) : null;
}
