// Filter popover of Traffic: direction, duration, status, method, server, time.
import { Button, Group, MultiSelect, Popover, Select, TextInput } from "@mantine/core";
import { useMemo } from "react";
import { Icon } from "../../components/Icon";
import { NumberInput } from "../../components/NumberInput";
import { useRing } from "../../state/events";
import { useInspector } from "../../state/store";
import { DIRECTIONS, purposeLabel, STATUSES, TIMES } from "./filterOptions";
import {
  ALL_SERVERS,
  activeCount,
  NO_FILTER,
  type Status,
  type Time,
  type TrafficFilter,
} from "./trafficFilter";

// The dropdowns must be inside the popover, or a click on them would close it.
const inside = { withinPortal: false } as const;

interface Props {
  filter: TrafficFilter;
  onFilter(filter: TrafficFilter): void;
  /** The server that the address names. */
  server: string | undefined;
  isRecorded: boolean;
  /** Whether there can be HTTP exchanges among what is shown. */
  hasHttp: boolean;
}

interface Seen {
  methods: string[];
  purposes: string[];
  servers: string[];
}

/** Methods, purposes and servers of the loaded events. */
function useSeen(): Seen {
  const ring = useRing();
  return useMemo(() => {
    const methods = new Set<string>();
    const purposes = new Set<string>();
    const servers = new Set<string>();
    for (const { method, purpose, server_id, kind } of ring.items) {
      if (method && !kind.startsWith("Http")) methods.add(method);
      if (purpose) purposes.add(purpose);
      if (server_id) servers.add(server_id);
    }
    return {
      methods: [...methods].sort(),
      purposes: [...purposes].sort(),
      servers: [...servers].sort(),
    };
  }, [ring]);
}

type Change = (part: Partial<TrafficFilter>) => void;

interface ServerProps extends Omit<Props, "onFilter" | "hasHttp"> {
  /** Servers of the loaded events. */
  seen: string[];
  set: Change;
}

/** Direction and minimum duration. */
function DirectionFields({ filter, set }: { filter: TrafficFilter; set: Change }) {
  return (
    <Group grow wrap="nowrap" gap="xs">
      <Select
        label="Direction"
        comboboxProps={inside}
        data={DIRECTIONS}
        allowDeselect={false}
        value={filter.direction}
        onChange={(way) => set({ direction: (way ?? "both") as TrafficFilter["direction"] })}
      />
      <NumberInput
        label="Slower than, ms"
        placeholder="Any duration"
        min={0}
        step={100}
        value={filter.slower ?? ""}
        onChange={(next) => set({ slower: next === "" ? null : next })}
      />
    </Group>
  );
}

interface ExcludeProps {
  label: string;
  /** What one of them is called. */
  noun: string;
  seen: string[];
  value: string[];
  onChange(value: string[]): void;
}

/** Methods or purposes that are not shown. */
function ExcludeField({ label, noun, seen, value, onChange }: ExcludeProps) {
  const all = [...new Set([...seen, ...value])];
  return (
    <MultiSelect
      label={label}
      comboboxProps={inside}
      placeholder={value.length ? undefined : `No ${noun}`}
      data={all.map((one) => ({
        value: one,
        label: noun === "purpose" ? purposeLabel(one) : one,
      }))}
      searchable
      clearable
      clearButtonProps={{ "aria-label": `Exclude no ${noun}` }}
      nothingFoundMessage={`No such ${noun} was seen`}
      value={value}
      onChange={onChange}
    />
  );
}

interface KindProps extends Omit<Seen, "servers"> {
  filter: TrafficFilter;
  hasHttp: boolean;
  set: Change;
}

/** What a message or an exchange is: its direction, duration, status, method and purpose. */
function KindFields({ filter, methods, purposes, hasHttp, set }: KindProps) {
  return (
    <>
      <DirectionFields filter={filter} set={set} />
      <Select
        label="Status"
        comboboxProps={inside}
        data={hasHttp ? STATUSES : STATUSES.filter(({ group }) => group !== "HTTP")}
        allowDeselect={false}
        value={filter.status}
        onChange={(next) => {
          const status = (next ?? "any") as Status;
          // Only HTTP events have such a status, so switch to that layer.
          set(status.endsWith("xx") ? { status, layer: "http" } : { status });
        }}
      />
      <Select
        label="Method"
        comboboxProps={inside}
        placeholder="Any method"
        data={[...new Set([...methods, ...(filter.method ? [filter.method] : [])])]}
        searchable
        clearable
        clearButtonProps={{ "aria-label": "Any method" }}
        nothingFoundMessage="No such method was seen"
        value={filter.method || null}
        onChange={(method) => set({ method: method ?? "" })}
      />
      <ExcludeField
        label="Exclude methods"
        noun="method"
        seen={methods}
        value={filter.hidden}
        onChange={(hidden) => set({ hidden })}
      />
      <ExcludeField
        label="Exclude by purpose"
        noun="purpose"
        seen={purposes}
        value={filter.hiddenPurposes}
        onChange={(hiddenPurposes) => set({ hiddenPurposes })}
      />
    </>
  );
}

/** The server; by default the one in the address. */
function ServerField({ filter, server, isRecorded, seen, set }: ServerProps) {
  const known = useInspector((state) => state.servers);
  const isThis = server !== undefined && !isRecorded;
  const ids = [...new Set([...seen, ...(isRecorded ? [] : known.keys())])];
  return (
    <Select
      label="Server"
      comboboxProps={inside}
      data={[
        { value: "", label: isThis ? `This server (${server})` : "All servers" },
        ...(isThis ? [{ value: ALL_SERVERS, label: "All servers" }] : []),
        ...ids
          .filter((id) => !isThis || id !== server)
          .map((id) => ({ value: id, label: known.get(id)?.title ?? id })),
      ]}
      allowDeselect={false}
      value={filter.server}
      onChange={(next) => set({ server: next ?? "" })}
    />
  );
}

function TimeFields({ filter, set }: { filter: TrafficFilter; set: Change }) {
  return (
    <>
      <Select
        label="Time"
        comboboxProps={inside}
        data={TIMES}
        allowDeselect={false}
        value={filter.time}
        onChange={(time) => set({ time: (time ?? "any") as Time })}
      />
      {filter.time === "between" && (
        <>
          <TextInput
            type="datetime-local"
            label="From"
            value={filter.from}
            onChange={(event) => set({ from: event.currentTarget.value })}
          />
          <TextInput
            type="datetime-local"
            label="To"
            value={filter.to}
            onChange={(event) => set({ to: event.currentTarget.value })}
          />
        </>
      )}
    </>
  );
}

function Fields({ filter, onFilter, server, isRecorded, hasHttp }: Props) {
  const { methods, purposes, servers } = useSeen();
  const set: Change = (part) => onFilter({ ...filter, ...part });
  return (
    <div className="stack">
      <KindFields
        filter={filter}
        methods={methods}
        purposes={purposes}
        hasHttp={hasHttp || filter.status.endsWith("xx")}
        set={set}
      />
      <ServerField
        filter={filter}
        server={server}
        isRecorded={isRecorded}
        seen={servers}
        set={set}
      />
      <TimeFields filter={filter} set={set} />
      <Button
        variant="default"
        disabled={activeCount(filter) === 0}
        onClick={() => {
          const { layer, text, ours } = filter;
          onFilter({ ...NO_FILTER, layer, text, ours });
        }}
      >
        Reset these filters
      </Button>
    </div>
  );
}

export function FilterButton(props: Props) {
  const count = activeCount(props.filter);
  return (
    <Popover position="bottom-start" width={280} trapFocus>
      <Popover.Target>
        <Button
          variant={count ? "light" : "default"}
          rightSection={<Icon name="down" size={12} />}
          aria-label={count ? `Filter, ${count} active` : "Filter"}
        >
          Filter{count ? ` ${count}` : ""}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Fields {...props} />
      </Popover.Dropdown>
    </Popover>
  );
}
