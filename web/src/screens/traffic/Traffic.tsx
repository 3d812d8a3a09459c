// Every message and HTTP exchange in order, both ways.
import { ActionIcon, Button, Menu, SegmentedControl, Select, Switch, Tooltip } from "@mantine/core";
import { useCallback, useDeferredValue, useMemo } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { exportPath } from "../../api/http";
import type { EventView } from "../../api/types";
import { Empty } from "../../parts/Empty";
import { counted } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { RowList } from "../../parts/RowList";
import { SearchField } from "../../parts/SearchField";
import { Split } from "../../parts/Split";
import { RingProvider, useRing } from "../../state/events";
import { useFiltered } from "../../state/filtered";
import { type Recorded, useRecorded } from "../../state/recorded";
import { useDraft, usePreference } from "../../state/remembered";
import { pathTo } from "../../state/selection";
import { useInspector } from "../../state/store";
import type { Layer } from "./describe";
import { EventDetail } from "./EventDetail";
import { EVERYTHING, type TrafficFilter, wantedBy } from "./filter";
import { ImportButton } from "./ImportButton";
import { RunChooser } from "./RunChooser";
import { TrafficRow, toneOf } from "./TrafficRow";

const LAYERS = [
  { value: "messages", label: "Messages" },
  { value: "http", label: "HTTP" },
  { value: "connection", label: "Connection" },
  { value: "everything", label: "All events" },
];
const WAYS = [
  { value: "both", label: "Both ways" },
  { value: "out", label: "Sent" },
  { value: "in", label: "Received" },
];
const ONLY = [
  { value: "all", label: "Good and bad" },
  { value: "errors", label: "Errors only" },
  { value: "malformed", label: "Malformed only" },
];

interface BarProps {
  filter: TrafficFilter;
  onFilter(filter: TrafficFilter): void;
  isAll: boolean;
  onAll(on: boolean): void;
  count: number;
}

function Toolbar({ filter, onFilter, isAll, onAll, count }: BarProps) {
  const [query] = useSearchParams();
  const now = useInspector((state) => state.run_id) ?? undefined;
  const runId = query.get("run") ?? now;
  const ring = useRing();
  const set = (part: Partial<TrafficFilter>): void => onFilter({ ...filter, ...part });
  return (
    <div className="toolbar">
      <SearchField
        label="Filter traffic"
        placeholder="Method, id or text"
        value={filter.text}
        onChange={(text) => set({ text })}
      />
      <SegmentedControl
        aria-label="What to show"
        data={LAYERS}
        value={filter.layer}
        onChange={(layer) => set({ layer: layer as Layer })}
      />
      <Select
        aria-label="Direction"
        w={110}
        data={WAYS}
        allowDeselect={false}
        value={filter.direction}
        onChange={(way) => set({ direction: (way ?? "both") as TrafficFilter["direction"] })}
      />
      <Select
        aria-label="Good or bad"
        w={130}
        data={ONLY}
        allowDeselect={false}
        value={filter.only}
        onChange={(only) => set({ only: (only ?? "all") as TrafficFilter["only"] })}
      />
      <Switch
        label="All servers"
        checked={isAll}
        onChange={(event) => onAll(event.currentTarget.checked)}
      />
      <RunChooser />
      <span className="grow" />
      <span className="dim" role="status">
        {counted(count, "row")}
      </span>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="download" size={14} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={exportPath("jsonl", runId)} download>
            Trace (JSON Lines)
          </Menu.Item>
          <Menu.Item component="a" href={exportPath("har", runId)} download>
            HTTP archive (HAR)
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ImportButton />
      <Tooltip label="Clear the view; the recording keeps everything">
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Clear the view"
          onClick={() => ring.clear()}
        >
          <Icon name="clear" />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

/** The traffic of now, or of the run that the address names. */
export function Traffic() {
  const [query] = useSearchParams();
  const recorded = useRecorded(query.get("run"));
  return (
    <RingProvider value={recorded.ring}>
      <Rows recorded={recorded} />
    </RingProvider>
  );
}

function Rows({ recorded }: { recorded: Recorded }) {
  const { server, item } = useParams();
  const navigate = useNavigate();
  const { ring } = recorded;
  const [filter, setFilter] = useDraft<TrafficFilter>("traffic.filter", EVERYTHING);
  const [isAll, setAll] = usePreference("traffic.all", false);
  const [query, setQuery] = useSearchParams();
  const isRecorded = query.has("run");
  const serverId = isAll || isRecorded || server === undefined ? null : server;
  const calm = useDeferredValue(filter);
  const requestId = query.get("id");
  const run = query.get("run");
  const search = run === null ? "" : `?run=${encodeURIComponent(run)}`;
  const wanted = useMemo(
    () => wantedBy({ ...calm, request_id: requestId }, serverId),
    [calm, serverId, requestId],
  );
  const { rows } = useFiltered(wanted);
  const seq = item ? Number(item) : null;
  const chosen = seq === null ? undefined : ring.find(seq);
  const choose = useCallback(
    (event: EventView) => {
      const path = server ? pathTo(server, "traffic", event.seq) : `/traffic/${event.seq}`;
      void navigate(path + search, { replace: true });
    },
    [navigate, server, search],
  );
  const close = (): void =>
    void navigate((server ? pathTo(server, "traffic") : "/traffic") + search, { replace: true });
  const list = (
    <div className="pane">
      {rows.length === 0 ? (
        <Empty
          icon="traffic"
          title={ring.items.length ? "No row fits this filter" : "No traffic yet"}
        >
          {ring.items.length
            ? "Change the filter, or show all servers."
            : "Connect a server: every message it sends or gets is listed here as it happens."}
        </Empty>
      ) : (
        <RowList
          label="Traffic"
          rows={rows}
          chosen={seq}
          onChoose={choose}
          tone={toneOf}
          draw={(event) => <TrafficRow event={event} withServer={serverId === null} />}
        />
      )}
    </div>
  );
  return (
    <div className="pane">
      <h1 className="sr">Traffic</h1>
      <Toolbar
        filter={filter}
        onFilter={setFilter}
        isAll={serverId === null}
        onAll={setAll}
        count={rows.length}
      />
      {recorded.isLoading && <div className="toolbar dim">Reading the recording…</div>}
      {recorded.problem && <div className="toolbar">{recorded.problem}</div>}
      {requestId && (
        <div className="toolbar">
          <span>Only what has the id {requestId}</span>
          <Button variant="default" size="compact-xs" onClick={() => setQuery({})}>
            Show all
          </Button>
        </div>
      )}
      {chosen ? (
        <Split
          name="traffic"
          label="Size of the details"
          sized="second"
          initial={520}
          first={list}
          second={<EventDetail event={chosen} onClose={close} />}
          narrow="second"
        />
      ) : (
        list
      )}
    </div>
  );
}
