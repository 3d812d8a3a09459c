// Toolbar of Traffic: filters, tree, runs, pins, export and import.
import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from "@mantine/core";
import { memo, useCallback, useRef } from "react";
import { Link, useSearchParams } from "react-router";
import type { EventView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { SearchField } from "../../components/SearchField";
import { RunChooser } from "../../events/RunChooser";
import { pathToServer } from "../../state/navigation";
import { pluralize } from "../../values/format";
import { ExportMenu } from "./ExportMenu";
import type { Layer } from "./eventLabel";
import { FilterButton } from "./FilterButton";
import { LAYERS } from "./filterOptions";
import { ImportButton } from "./ImportButton";
import { PinList } from "./PinList";
import type { TrafficFilter } from "./trafficFilter";

interface Props {
  filter: TrafficFilter;
  onFilter(filter: TrafficFilter): void;
  /** The server that the address names. */
  server: string | undefined;
  /** The server whose rows are shown; null for all. */
  serverId: string | null;
  runId: string | null;
  isTree: boolean;
  onTree(on: boolean): void;
  /** Collapses or expands all rows of the tree. */
  onFold(isClosed: boolean): void;
  onClear(): void;
  /** Moves the focus from the search to the rows. */
  onDown(): void;
  /** The currently filtered rows. */
  shown(): EventView[];
  count: number;
  isSearching: boolean;
}

// Memoized, since each key in the search field re-renders the toolbar.
const LayerControl = memo(function LayerControl(props: {
  value: Layer;
  onChange(layer: Layer): void;
}) {
  return (
    <SegmentedControl
      aria-label="What to show"
      data={LAYERS}
      value={props.value}
      onChange={(layer) => props.onChange(layer as Layer)}
    />
  );
});

const FoldButtons = memo(function FoldButtons({ onFold }: { onFold(isClosed: boolean): void }) {
  return (
    <ActionIcon.Group>
      <Tooltip label="Fold all">
        <ActionIcon variant="default" size={30} aria-label="Fold all" onClick={() => onFold(true)}>
          <Icon name="up" />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Unfold all">
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Unfold all"
          onClick={() => onFold(false)}
        >
          <Icon name="down" />
        </ActionIcon>
      </Tooltip>
    </ActionIcon.Group>
  );
});

const TrafficActions = memo(function TrafficActions(props: {
  runId: string | null;
  serverId: string | null;
  shown(): EventView[];
  onClear(): void;
}) {
  return (
    <>
      <PinList />
      {props.serverId !== null && (
        <Tooltip label="Write and send any JSON-RPC message">
          <Button
            component={Link}
            to={pathToServer(props.serverId, "experimental")}
            variant="default"
            leftSection={<Icon name="edit" size={13} />}
          >
            Raw message
          </Button>
        </Tooltip>
      )}
      <ExportMenu runId={props.runId} serverId={props.serverId} shown={props.shown} />
      <ImportButton />
      <Tooltip label="Clear…">
        <ActionIcon variant="default" size={30} aria-label="Clear" onClick={props.onClear}>
          <Icon name="clear" />
        </ActionIcon>
      </Tooltip>
    </>
  );
});

const Runs = memo(RunChooser);

export const TrafficToolbar = memo(function TrafficToolbar(props: Props) {
  const { filter, onFilter, server, isTree, onTree, onFold, onClear, count, isSearching } = props;
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
      <LayerControl value={filter.layer} onChange={setLayer} />
      <FilterButton
        filter={filter}
        onFilter={onFilter}
        server={server}
        isRecorded={query.has("run")}
      />
      <Switch
        label="Tree"
        checked={isTree}
        onChange={(event) => onTree(event.currentTarget.checked)}
      />
      {isTree && <FoldButtons onFold={onFold} />}
      <Runs />
      <span className="grow" />
      <span className="dim" role="status">
        {isSearching ? "Searching…" : pluralize(count, "row")}
      </span>
      <TrafficActions
        runId={props.runId}
        serverId={props.serverId}
        shown={props.shown}
        onClear={onClear}
      />
    </div>
  );
});
