// The top bar: current server and its state, tabs, questions, tools.
import { ActionIcon, Indicator, Menu, Tooltip, useMantineColorScheme } from "@mantine/core";
import { useColorScheme } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { Link, useNavigate } from "react-router";
import type { ServerView } from "../api/types";
import { Icon, type IconName } from "../components/Icon";
import { Mark } from "../components/Mark";
import { questionSummary } from "../questions/questionSummary";
import { waitingQuestions } from "../questions/waitingQuestions";
import { command } from "../state/commands";
import { lastPath } from "../state/lastVisited";
import {
  type PageLocation,
  pathTo,
  pathToQuestion,
  type Screen,
  useCurrentServer,
  usePageLocation,
} from "../state/navigation";
import { useInspector } from "../state/store";
import { withWaitingToast } from "../state/toasts";
import { formatDuration, formatTime, truncate } from "../values/format";
import { stateLabel } from "../values/serverState";
import { openPalette } from "./paletteStore";
import { ServerSwitcher } from "./ServerSwitcher";
import css from "./TopBar.module.css";
import { useBackendDown } from "./useBackendDown";

interface Tab {
  label: string;
  icon: IconName;
  screen: Screen | "servers" | "collections" | "settings";
  /** Other words that people type to find it. */
  words: string;
}

export const TABS: Tab[] = [
  {
    label: "Servers",
    icon: "servers",
    screen: "servers",
    words: "connections mcp.json configuration start",
  },
  { label: "Tools", icon: "tools", screen: "tools", words: "functions call run actions" },
  {
    label: "Resources",
    icon: "resources",
    screen: "resources",
    words: "files templates uri read documents",
  },
  { label: "Prompts", icon: "prompts", screen: "prompts", words: "templates messages" },
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
    words: "preferences options configuration timeout",
  },
  {
    label: "Collections",
    icon: "collections",
    screen: "collections",
    words: "saved calls examples yaml favourites favorites bookmarks test",
  },
];

/** Whether a tab applies: a sign-in is shown only where there is one. */
export const isTabShown = ({ screen }: Tab, server: ServerView | null, place: PageLocation) =>
  screen !== "auth" || place.screen === "auth" || Boolean(server?.auth);

/** Target of a tab: the last visited item; on its own screen, the list without a selection. */
export function tabPath({ screen }: Tab, server: ServerView | null, place: PageLocation): string {
  if (screen === "servers" || screen === "settings" || screen === "collections")
    return `/${screen}`;
  if (!server) return screen === "traffic" || screen === "logs" ? `/${screen}` : "/servers";
  const bare = pathTo(server.server_id, screen);
  return place.screen === screen ? bare : (lastPath(server.server_id, screen) ?? bare);
}

const COUNTED: string[] = ["tools", "resources", "prompts"];

const countOf = (server: ServerView | null, screen: string): number | null =>
  server?.lists.find((list) => COUNTED.includes(screen) && list.kind === screen)?.count ?? null;

/** Shortened, so that thousands take no more space than hundreds. */
const short = (count: number): string =>
  count < 1000 ? String(count) : `${Math.floor(count / 1000).toLocaleString("en")}k`;

export const pingServer = (serverId: string): void =>
  void withWaitingToast(
    `an answer from ${serverId}`,
    "The ping was not answered",
    command("Ping", { server_id: serverId }),
  );

function ServerStatus({ server }: { server: ServerView }) {
  const isDown = useBackendDown();
  const words = isDown ? "Unknown" : stateLabel(server);
  return (
    <span className={css.status}>
      <span role="status" className="cut" title={words}>
        {words}
      </span>
      <span className={css.measured}>
        {!isDown && server.state === "CONNECTED" && (
          <Tooltip label="Duration of the last ping. Click to ping now">
            <button
              type="button"
              className="plain dim"
              aria-label={`Ping now${server.latency_s === null ? "" : `; the last took ${formatDuration(server.latency_s)}`}`}
              onClick={() => pingServer(server.server_id)}
            >
              {server.latency_s === null ? "ping" : formatDuration(server.latency_s)}
            </button>
          </Tooltip>
        )}
        {server.protocol_version && (
          <Tooltip label="MCP protocol revision in use">
            <span className={css.revision}>{server.protocol_version}</span>
          </Tooltip>
        )}
      </span>
    </span>
  );
}

function ThemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const system = useColorScheme();
  const other = system === "dark" ? "light" : "dark";
  // The first click changes the visible theme.
  const order = ["auto", other, system] as const;
  const next = order[(order.indexOf(colorScheme) + 1) % 3] ?? "auto";
  const names = { auto: "system", light: "light", dark: "dark" } as const;
  const icons: Record<string, IconName> = { auto: "system", light: "sun", dark: "moon" };
  const label = `Theme: ${names[colorScheme]}. Change to ${names[next]}`;
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon name={icons[colorScheme] ?? "system"} />
      </ActionIcon>
    </Tooltip>
  );
}

// Limit for a menu.
const MOST_ASKED = 20;

function QuestionMenu() {
  const questions = useInspector((state) => state.questions);
  const navigate = useNavigate();
  const waiting = waitingQuestions(questions);
  const label =
    waiting.length === 1
      ? "1 question is waiting for an answer"
      : `${waiting.length} questions are waiting for an answer`;
  return (
    <Menu width={320} position="bottom-end">
      <Indicator
        label={waiting.length}
        size={15}
        disabled={!waiting.length}
        color="orange.9"
        offset={4}
      >
        <Menu.Target>
          <ActionIcon aria-label={label}>
            <Icon name="bell" />
          </ActionIcon>
        </Menu.Target>
      </Indicator>
      <Menu.Dropdown>
        {waiting.length === 0 && (
          <Menu.Label>No questions are waiting. Servers ask during tool calls.</Menu.Label>
        )}
        {waiting.slice(0, MOST_ASKED).map((question) => (
          <Menu.Item
            key={question.question_id}
            classNames={{ itemLabel: css.asked }}
            onClick={() => void navigate(pathToQuestion(question))}
          >
            <span className="mono">{question.method}</span>
            <div className="cut">{truncate(questionSummary(question), 80)}</div>
            <div className="dim">
              {question.server_id}, asked {formatTime(question.opened, false)}
              {question.call_id === null && ", call not known"}
            </div>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate("/questions")}>
          All questions
          {waiting.length > MOST_ASKED &&
            ` (${(waiting.length - MOST_ASKED).toLocaleString("en")} more)`}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface BarProps {
  isMonitorOpen: boolean;
  /** Position of the monitor, open or not. */
  side: "right" | "bottom";
  onMonitor(): void;
  onHelp(): void;
}

export function TopBar({ isMonitorOpen, side, onMonitor, onHelp }: BarProps) {
  const server = useCurrentServer();
  const place = usePageLocation();
  const tabs = useRef<HTMLElement>(null);
  // Nine screens are wider than a phone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen tab follows the address
  useEffect(() => {
    tabs.current
      ?.querySelector(".active")
      ?.scrollIntoView?.({ inline: "nearest", block: "nearest" });
  }, [place.screen]);
  return (
    <header className={css.bar}>
      <div className={css.left}>
        <Tooltip label="mcplens: all servers">
          <Link to="/servers" className={css.mark} aria-label="mcplens">
            <Mark />
          </Link>
        </Tooltip>
        <ServerSwitcher server={server} />
        {server && <ServerStatus server={server} />}
      </div>
      <nav className={css.tabs} aria-label="Screens" ref={tabs}>
        {TABS.filter((tab) => isTabShown(tab, server, place)).map((tab) => {
          const count = countOf(server, tab.screen);
          const isHere = tab.screen === place.screen;
          return (
            <Link
              key={tab.screen}
              to={tabPath(tab, server, place)}
              className={isHere ? `${css.tab} active` : css.tab}
              aria-current={isHere ? "page" : undefined}
              title={tab.label}
            >
              <Icon name={tab.icon} size={14} />
              <span className={css.label} data-label={tab.label}>
                {tab.label}
              </span>
              {COUNTED.includes(tab.screen) && (
                <span className={css.count} title={count?.toLocaleString("en")}>
                  {count !== null && short(count)}
                </span>
              )}
            </Link>
          );
        })}
      </nav>
      <div className={css.right}>
        <Tooltip label="Find anything (Ctrl K)">
          <ActionIcon aria-label="Find anything" onClick={openPalette}>
            <Icon name="search" />
          </ActionIcon>
        </Tooltip>
        <QuestionMenu />
        <Tooltip label={isMonitorOpen ? "Close the monitor (m)" : "Open the monitor (m)"}>
          <ActionIcon
            className={css.wide}
            aria-label="Monitor"
            aria-pressed={isMonitorOpen}
            onClick={onMonitor}
          >
            <Icon name={side === "right" ? "panelRight" : "panelBottom"} />
          </ActionIcon>
        </Tooltip>
        <ThemeToggle />
        <Tooltip label="Keyboard shortcuts (?)">
          <ActionIcon className={css.wide} aria-label="Keyboard shortcuts" onClick={onHelp}>
            <Icon name="keyboard" />
          </ActionIcon>
        </Tooltip>
      </div>
    </header>
  );
}
