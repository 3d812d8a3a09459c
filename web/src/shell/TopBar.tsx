// The top bar: current server and its state, tabs, questions, tools.
import {
  ActionIcon,
  Indicator,
  Menu,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useColorScheme } from "@mantine/hooks";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ServerView } from "../api/types";
import { Icon, type IconName } from "../components/Icon";
import { Mark } from "../components/Mark";
import { questionSummary } from "../questions/questionSummary";
import { waitingQuestions } from "../questions/waitingQuestions";
import { command } from "../state/commands";
import { pathToQuestion, useCurrentServer, usePageLocation } from "../state/navigation";
import { useInspector } from "../state/store";
import { withWaitingToast } from "../state/toasts";
import { formatDuration, formatTime, truncate } from "../values/format";
import { stateLabel } from "../values/serverState";
import { openPalette } from "./paletteStore";
import { ScreenTabs } from "./ScreenTabs";
import { ServerSwitcher } from "./ServerSwitcher";
import css from "./TopBar.module.css";
import { isUsed } from "./tabs";
import { useBackendDown } from "./useBackendDown";

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
      <span className={css.state}>
        <span role="status" className="cut" title={words}>
          {words}
        </span>
        {!isDown && server.state === "CONNECTED" && (
          <span className={css.measured}>
            <span aria-hidden="true">·</span>
            <Tooltip label="Duration of the last ping. Click to ping now">
              <button
                type="button"
                className={`plain dim ${css.ping}`}
                aria-label={`Ping now${server.latency_s === null ? "" : `; the last took ${formatDuration(server.latency_s)}`}`}
                onClick={() => pingServer(server.server_id)}
              >
                {server.latency_s === null ? "Ping" : formatDuration(server.latency_s)}
              </button>
            </Tooltip>
          </span>
        )}
      </span>
      {server.protocol_version && (
        <Tooltip label="MCP protocol revision in use">
          <span className={css.revision}>MCP {server.protocol_version}</span>
        </Tooltip>
      )}
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
      <ActionIcon className={css.icon} aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon name={icons[colorScheme] ?? "system"} />
        <span className={css.iconLabel}>Theme</span>
      </ActionIcon>
    </Tooltip>
  );
}

// Limit for a menu.
const MOST_ASKED = 20;

function QuestionMenu() {
  const questions = useInspector((state) => state.questions);
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const waiting = waitingQuestions(questions);
  const label =
    waiting.length === 1
      ? "1 question is waiting for an answer"
      : `${waiting.length} questions are waiting for an answer`;
  return (
    <Menu width={320} position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Indicator
        label={waiting.length}
        size={15}
        disabled={!waiting.length}
        color="orange.9"
        offset={4}
      >
        {/* The menu opens where the tooltip is. */}
        <Tooltip label={label} disabled={isOpen}>
          <Menu.Target>
            <ActionIcon className={css.icon} aria-label={label}>
              <Icon name="questions" />
              <span className={css.iconLabel}>Questions</span>
            </ActionIcon>
          </Menu.Target>
        </Tooltip>
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
  const { screen, server_id } = usePageLocation();
  // Nothing to switch between yet.
  const isFirstStart =
    screen === "servers" &&
    server_id === null &&
    server?.source.kind === "built-in" &&
    !isUsed(server);
  return (
    <header className={css.bar}>
      <div className={css.left}>
        <Tooltip label="mcplens: all servers">
          <Link to="/servers" className={css.mark} aria-label="mcplens">
            <Mark />
            {isFirstStart && <span className={css.name}>mcplens</span>}
          </Link>
        </Tooltip>
        {!isFirstStart && <ServerSwitcher server={server} />}
        {!isFirstStart && server && <ServerStatus server={server} />}
      </div>
      <ScreenTabs server={server} />
      <div className={css.right}>
        <Tooltip label="Find any server, tool, screen or action (Ctrl K)">
          <UnstyledButton className={css.find} aria-label="Find anything" onClick={openPalette}>
            <Icon name="search" size={14} />
            <span className={css.findLabel}>Find</span>
          </UnstyledButton>
        </Tooltip>
        <QuestionMenu />
        <Tooltip label={isMonitorOpen ? "Close the monitor (m)" : "Open the monitor (m)"}>
          <ActionIcon
            className={`${css.icon} ${css.wide}`}
            aria-label="Monitor"
            aria-pressed={isMonitorOpen}
            onClick={onMonitor}
          >
            <Icon name={side === "right" ? "panelRight" : "panelBottom"} />
            <span className={css.iconLabel}>Monitor</span>
          </ActionIcon>
        </Tooltip>
        <ThemeToggle />
        <Tooltip label="Keyboard shortcuts (?)">
          <ActionIcon
            className={`${css.icon} ${css.wide}`}
            aria-label="Keyboard shortcuts"
            onClick={onHelp}
          >
            <Icon name="keyboard" />
            <span className={css.iconLabel}>Shortcuts</span>
          </ActionIcon>
        </Tooltip>
      </div>
    </header>
  );
}
