// What servers log and write to stderr, as it comes.
import { Button, Checkbox, Popover, Select, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useDeferredValue, useMemo, useState } from "react";
import { useParams } from "react-router";
import type { EventView, ServerView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { counted, words } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { RowList } from "../../parts/RowList";
import { SearchField } from "../../parts/SearchField";
import { Split } from "../../parts/Split";
import { TextView } from "../../parts/TextView";
import { copy, pretty, save } from "../../parts/text";
import { command } from "../../state/connection";
import { useFiltered } from "../../state/filtered";
import { usePreference } from "../../state/remembered";
import { useInspector } from "../../state/store";
import { LogRow } from "./LogRow";
import { isLog, LEVELS, levelOf, lineOf, textOf } from "./levels";

const SHOWN = [...LEVELS, "stderr"];

function ServerLevel({ server }: { server: ServerView }) {
  const isOffered = "logging" in server.capabilities && server.state === "CONNECTED";
  const set = (level: string | null): void => {
    if (!level) return;
    command("SetLevel", { server_id: server.server_id, level }).catch((thrown: unknown) =>
      notifications.show({ color: "red", title: "The level was not set", message: words(thrown) }),
    );
  };
  return (
    <Select
      aria-label="Level that the server logs from"
      title={isOffered ? undefined : "This server does not offer logging"}
      placeholder={isOffered ? "Server's level" : "No logging"}
      w={130}
      data={[...LEVELS]}
      disabled={!isOffered}
      value={server.log_level}
      onChange={set}
    />
  );
}

function ShownLevels({ value, onChange }: { value: string[]; onChange(value: string[]): void }) {
  return (
    <Popover position="bottom-start">
      <Popover.Target>
        <Button variant="default" rightSection={<Icon name="down" size={12} />}>
          {value.length === SHOWN.length
            ? "All levels"
            : `${value.length} of ${SHOWN.length} levels`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group aria-label="Levels to show" value={value} onChange={onChange}>
          <div className="stack tight">
            {SHOWN.map((level) => (
              <Checkbox key={level} value={level} label={level} />
            ))}
          </div>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}

export function Logs() {
  const { server: serverParam } = useParams();
  const server = useInspector((state) =>
    serverParam ? state.servers.get(serverParam) : undefined,
  );
  const [isAll, setAll] = usePreference("logs.all", false);
  const [levels, setLevels] = usePreference<string[]>("logs.levels", SHOWN);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<EventView | null>(null);
  const calm = useDeferredValue(text);
  const serverId = isAll ? null : (serverParam ?? null);
  const wanted = useMemo(() => {
    const needle = calm.toLowerCase();
    const shown = new Set(levels);
    return (event: EventView): boolean =>
      isLog(event) &&
      (serverId === null || event.server_id === serverId) &&
      (shown.has(levelOf(event)) || !SHOWN.includes(levelOf(event))) &&
      (!needle || lineOf(event).toLowerCase().includes(needle));
  }, [calm, levels, serverId]);
  const { rows } = useFiltered(wanted);
  const list =
    rows.length === 0 ? (
      <Empty icon="logs" title="No log lines">
        Log messages of the server and what it writes to stderr appear here. Some servers log
        nothing until a level is set.
      </Empty>
    ) : (
      <RowList
        label="Log lines"
        rows={rows}
        chosen={chosen?.seq ?? null}
        onChoose={setChosen}
        draw={(event) => <LogRow event={event} withServer={serverId === null} />}
      />
    );
  return (
    <div className="pane">
      <h1 className="sr">Logs</h1>
      <div className="toolbar">
        <SearchField label="Filter logs" value={text} onChange={setText} />
        {server && <ServerLevel server={server} />}
        <ShownLevels value={levels} onChange={setLevels} />
        <Switch
          label="All servers"
          checked={serverId === null}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
        <span className="grow" />
        <span className="dim">{counted(rows.length, "line")}</span>
        <Button
          variant="default"
          disabled={!rows.length}
          onClick={() => void copy(rows.map(lineOf).join("\n"))}
        >
          Copy
        </Button>
        <Button
          variant="default"
          disabled={!rows.length}
          onClick={() => save(rows.map(lineOf).join("\n"), "mcplens.log", "text/plain")}
        >
          Export
        </Button>
      </div>
      {chosen ? (
        <Split
          name="logs"
          label="Size of the log line"
          isVertical
          sized="second"
          initial={160}
          least={80}
          first={<div className="pane">{list}</div>}
          second={
            <div className="scroll pad" style={{ height: "100%" }}>
              <TextView
                label="Log line"
                text={
                  typeof chosen.detail.data === "object"
                    ? pretty(chosen.detail.data)
                    : textOf(chosen)
                }
              />
            </div>
          }
        />
      ) : (
        list
      )}
    </div>
  );
}
