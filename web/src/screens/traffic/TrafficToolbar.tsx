// Toolbar of Traffic: filters, arrangement, columns, sessions, pins, export and import.
import { Button, SegmentedControl, Switch, Tooltip } from "@mantine/core";
import { memo, useCallback, useRef } from "react";
import { Link, useLocation, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { SearchField } from "../../components/SearchField";
import { RunChooser } from "../../events/RunChooser";
import { fromHere, pathTo } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { ColumnsMenu } from "./ColumnsMenu";
import { ExportMenu } from "./ExportMenu";
import type { Layer } from "./eventLabel";
import { FilterButton } from "./FilterButton";
import { LAYERS } from "./filterOptions";
import { ImportButton } from "./ImportButton";
import { PinList } from "./PinList";
import type { TrafficFilter } from "./trafficFilter";
import type { ColumnChoices } from "./useColumnChoice";

interface Props {
  filter: TrafficFilter;
  onFilter(filter: TrafficFilter): void;
  /** The server that the address names. */
  server: string | undefined;
  /** The server whose rows are shown; null for all. */
  serverId: string | null;
  runId: string | null;
  /** One row per event, in the order of the wire. */
  isWire: boolean;
  onWire(on: boolean): void;
  /** How many messages are our own. */
  oursCount: number;
  /** Whether there can be HTTP exchanges among what is shown. */
  hasHttp: boolean;
  /** Collapses or expands all rows. */
  onFold(isClosed: boolean): void;
  choices: ColumnChoices;
  onClear(): void;
  /** Moves the focus from the search to the rows. */
  onDown(): void;
  /** The events of the currently filtered rows. */
  shown(): EventView[];
}

// Memoized, since each key in the search field re-renders the toolbar.
const LayerControl = memo(function LayerControl(props: {
  value: Layer;
  hasHttp: boolean;
  onChange(layer: Layer): void;
}) {
  const isOffered = (layer: string): boolean =>
    layer !== "http" || props.hasHttp || props.value === "http";
  return (
    <SegmentedControl
      aria-label="What to show"
      data={LAYERS.filter(({ value }) => isOffered(value))}
      value={props.value}
      onChange={(layer) => props.onChange(layer as Layer)}
    />
  );
});

/** Leads to the raw tester of the server that is shown; of all, to that of one that is connected. */
function RawMessageButton({ serverId }: { serverId: string | null }) {
  const connected = useInspector(
    ({ servers }) => [...servers.values()].find((one) => one.state === "CONNECTED")?.server_id,
  );
  const location = useLocation();
  const target = serverId ?? connected;
  if (target === undefined) return null;
  return (
    <Tooltip
      label={`Write and send any JSON-RPC message${serverId === null ? ` to ${target}` : ""}`}
    >
      <Button
        component={Link}
        to={pathTo(target, "raw")}
        state={fromHere(location)}
        variant="default"
        leftSection={<Icon name="edit" size={13} />}
      >
        Raw message
      </Button>
    </Tooltip>
  );
}

const TrafficActions = memo(function TrafficActions(props: {
  runId: string | null;
  serverId: string | null;
  isRecorded: boolean;
  shown(): EventView[];
  onClear(): void;
}) {
  return (
    <>
      <PinList />
      {/* What is sent now would not be in an earlier session. */}
      {!props.isRecorded && <RawMessageButton serverId={props.serverId} />}
      <ExportMenu runId={props.runId} serverId={props.serverId} shown={props.shown} />
      <ImportButton />
      <Tooltip label="Hide these rows, or delete the recording">
        <Button
          className="spare"
          variant="default"
          leftSection={<Icon name="clear" size={13} />}
          aria-label="Clear…"
          onClick={props.onClear}
        >
          Clear…
        </Button>
      </Tooltip>
    </>
  );
});

const Runs = memo(RunChooser);

export const TrafficToolbar = memo(function TrafficToolbar(props: Props) {
  const { filter, onFilter, server, isWire, onWire, oursCount, onFold, onClear } = props;
  const [query] = useSearchParams();
  const latest = useRef(filter);
  latest.current = filter;
  const set = useCallback(
    (part: Partial<TrafficFilter>): void => onFilter({ ...latest.current, ...part }),
    [onFilter],
  );
  const setLayer = useCallback((layer: Layer) => set({ layer }), [set]);
  return (
    <div className="toolbar">
      <SearchField
        label="Filter traffic"
        placeholder="Method, id or text"
        value={filter.text}
        onChange={(text) => set({ text })}
        onDown={props.onDown}
      />
      <LayerControl value={filter.layer} hasHttp={props.hasHttp} onChange={setLayer} />
      <FilterButton
        filter={filter}
        onFilter={onFilter}
        server={server}
        isRecorded={query.has("run")}
        hasHttp={props.hasHttp}
      />
      <Tooltip label="One row for each message, in the order in which they were sent">
        <Switch
          label="Wire order"
          checked={isWire}
          onChange={(event) => onWire(event.currentTarget.checked)}
        />
      </Tooltip>
      <Tooltip label="Pings, lists and polling, and their answers: mcplens's own, or those of a tapped client">
        <Switch
          label={`mcplens's own (${oursCount.toLocaleString("en")})`}
          checked={filter.ours}
          onChange={(event) => set({ ours: event.currentTarget.checked })}
        />
      </Tooltip>
      <Runs />
      <div className="actions brief">
        <ColumnsMenu choices={props.choices} onFold={isWire ? undefined : onFold} />
        <TrafficActions
          runId={props.runId}
          serverId={props.serverId}
          isRecorded={query.has("run")}
          shown={props.shown}
          onClear={onClear}
        />
      </div>
    </div>
  );
});
