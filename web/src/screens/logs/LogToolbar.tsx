// Toolbar of Logs: level filter, server level, view options, copy, export, clear.
import { Button, Checkbox, Menu, Popover, SegmentedControl, Select, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { memo, useState } from "react";
import { copyText } from "../../components/clipboard";
import { downloadFile } from "../../components/download";
import { Icon } from "../../components/Icon";
import { command } from "../../state/commands";
import { useRing } from "../../state/events";
import { useInspector } from "../../state/store";
import { withWaitingToast } from "../../state/toasts";
import { fileName } from "../../values/fileName";
import { pluralize } from "../../values/format";
import {
  asJsonLines,
  asTextLines,
  LEVELS,
  type LogLine,
  loadLines,
  SHOWN_LEVELS,
} from "./logLines";
import { type LogStream, useIsLogEmpty, useLogCount } from "./useLogLines";

/** The server's log level, and whether it can be set. */
function useLevel(serverId: string | null) {
  const level = useInspector((state) => state.servers.get(serverId ?? "")?.log_level ?? null);
  const isConnected = useInspector(
    (state) => state.servers.get(serverId ?? "")?.state === "CONNECTED",
  );
  // Since 2026-07-28 each request names its level, whatever the server declared.
  const isPossible = useInspector((state) => {
    const server = state.servers.get(serverId ?? "");
    return server?.protocol_version === "2026-07-28" || "logging" in (server?.capabilities ?? {});
  });
  const set = (next: string | null): void => {
    if (next)
      void withWaitingToast(
        `the level of ${serverId} to be set`,
        "The level was not set",
        command("SetLevel", { server_id: serverId ?? "", level: next }),
      );
  };
  return { level, isConnected, isOffered: isConnected && isPossible, set };
}

/** Hint for a server that sent no log lines yet: offers to set its level. */
export function EnableLoggingHint({ serverId }: { serverId: string | null }) {
  const { level, isConnected, isOffered, set } = useLevel(serverId);
  if (!isConnected || level === "debug") return null;
  if (!isOffered)
    return <span className="dim">The server did not declare the logging capability.</span>;
  return (
    <>
      <span className="dim">
        {level === null
          ? "Some servers log nothing until a level is set."
          : `The server is asked to log from ${level} up.`}
      </span>
      <Button variant="default" onClick={() => set("debug")}>
        Ask for everything, from debug up
      </Button>
    </>
  );
}

/** Selects the minimum level of the server's log messages. */
export const ServerLevelSelect = memo(({ serverId }: { serverId: string }) => {
  const { level, isConnected, isOffered, set } = useLevel(serverId);
  const disabledReason = isConnected ? "The server did not declare logging" : "Not connected";
  const none = isConnected ? "no logging" : "unknown";
  return (
    <Select
      aria-label="Minimum level that the server logs"
      title={isOffered ? "The server sends messages from this level up" : disabledReason}
      placeholder={isOffered ? "not set" : none}
      leftSection={<span className="dim">Server level</span>}
      leftSectionWidth={94}
      w={204}
      data={[...LEVELS]}
      disabled={!isOffered}
      value={level}
      onChange={set}
    />
  );
});
ServerLevelSelect.displayName = "ServerLevel";

export const LevelFilter = memo(
  ({ value, onChange }: { value: string[]; onChange(value: string[]): void }) => (
    <Popover position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" rightSection={<Icon name="down" size={12} />}>
          {value.length === SHOWN_LEVELS.length
            ? "All levels"
            : `${value.length} of ${SHOWN_LEVELS.length} levels`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group aria-label="Levels to show" value={value} onChange={onChange}>
          {/* Far enough apart to be hit. */}
          <div className="stack tight" style={{ gap: 8 }}>
            {SHOWN_LEVELS.map((level) => (
              <Checkbox key={level} value={level} label={level} />
            ))}
          </div>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  ),
);
LevelFilter.displayName = "ShownLevels";

interface ViewProps {
  isAll: boolean;
  onAll(isAll: boolean): void;
  isSplit: boolean;
  onSplit(isSplit: boolean): void;
}

/** All servers or one, and one or two panes. */
export const LogViewOptions = memo(({ isAll, onAll, isSplit, onSplit }: ViewProps) => (
  <>
    <SegmentedControl
      aria-label="Log messages and stderr"
      value={isSplit ? "split" : "one"}
      onChange={(next) => onSplit(next === "split")}
      data={[
        { value: "one", label: "One stream" },
        { value: "split", label: "Split" },
      ]}
    />
    <Switch
      label="All servers"
      checked={isAll}
      onChange={(event) => onAll(event.currentTarget.checked)}
    />
  </>
));
LogViewOptions.displayName = "View";

export function LineCount({ lines }: { lines: LogStream }) {
  return <span className="dim wide-only">{pluralize(useLogCount(lines), "line")}</span>;
}

interface TakingProps {
  lines: LogStream;
  /** Null where all servers are shown. */
  serverId: string | null;
  onClear(): void;
}

/** Copy, export and clear the shown lines. */
export const LogActions = memo(({ lines, serverId, onClear }: TakingProps) => {
  const ring = useRing();
  const isEmpty = useIsLogEmpty(lines);
  const [isBusy, setBusy] = useState(false);
  const take = async (use: (rows: LogLine[]) => unknown): Promise<void> => {
    setBusy(true);
    const rows = await loadLines(lines.filtered.refresh());
    setBusy(false);
    const parts = rows.filter((row) => row.isPart).length;
    if (parts)
      notifications.show({
        color: "red",
        message: `Only the beginning of ${pluralize(parts, "line")} could be read.`,
      });
    await use(rows);
  };
  const copyThem = (rows: LogLine[]) => copyText(asTextLines(rows));
  const name = (ending: string): string => fileName([serverId, "logs"], ending);
  const saveText = (rows: LogLine[]) => downloadFile(asTextLines(rows), name("log"), "text/plain");
  const saveJson = (rows: LogLine[]) =>
    downloadFile(asJsonLines(rows, ring.links.requestOf), name("jsonl"), "application/jsonl");
  return (
    <>
      <Button
        variant="default"
        disabled={isEmpty}
        loading={isBusy}
        onClick={() => void take(copyThem)}
      >
        Copy
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            disabled={isEmpty}
            loading={isBusy}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void take(saveText)}>As text</Menu.Item>
          <Menu.Item onClick={() => void take(saveJson)}>As JSON Lines</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button
        variant="default"
        disabled={isEmpty}
        title="Clear the view; the recording keeps every line"
        onClick={onClear}
      >
        Clear
      </Button>
    </>
  );
});
LogActions.displayName = "Taking";
