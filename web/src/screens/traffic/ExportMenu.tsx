// Exports a run of one server or all, or only the filtered rows, as a trace or an HTTP archive.
import { Button, Menu } from "@mantine/core";
import { type ExportFormat, exportPath, fetchRowsPath } from "../../api/http";
import type { EventView } from "../../api/types";
import { downloadUrl } from "../../components/download";
import { Icon } from "../../components/Icon";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { fileName } from "../../values/fileName";
import { pluralize } from "../../values/format";

interface Props {
  runId: string | null;
  /** Null where all servers are shown. */
  serverId: string | null;
  /** The currently filtered rows. */
  shown(): EventView[];
}

type WholeProps = Omit<Props, "shown"> & { whose: string };

/** Rendered when the menu opens, so that file names have the current time. */
function WholeRunItems({ runId, serverId, whose }: WholeProps) {
  const path = (format: ExportFormat): string =>
    exportPath(format, runId, serverId, fileName([serverId, "traffic"], format));
  return (
    <>
      <Menu.Item component="a" href={path("jsonl")} download>
        Trace of {whose} (JSON Lines)
      </Menu.Item>
      <Menu.Item component="a" href={path("har")} download>
        HTTP archive of {whose} (HAR)
      </Menu.Item>
    </>
  );
}

/** Rows in order as ranges of seqs without gaps: the first and last of each, in one list. */
export function seqRanges(rows: EventView[]): number[] {
  const ranges: number[] = [];
  for (const { seq } of rows) {
    if (ranges.at(-1) === seq - 1) ranges[ranges.length - 1] = seq;
    else ranges.push(seq, seq);
  }
  return ranges;
}

export async function saveRows(
  format: ExportFormat,
  runId: string,
  rows: EventView[],
  name: string,
): Promise<void> {
  const asked = fetchRowsPath(format, runId, seqRanges(rows), name);
  const path = await withErrorToast("The rows could not be exported", asked);
  if (path !== null) downloadUrl(path, name);
}

function FilteredItems({ runId, serverId, shown }: Props) {
  const rows = shown();
  const save = (format: ExportFormat): void => {
    const name = fileName([serverId, "traffic", "filtered"], format);
    if (runId !== null) void saveRows(format, runId, rows, name);
  };
  const isNone = runId === null || rows.length === 0;
  return (
    <>
      <Menu.Label>What is shown: {pluralize(rows.length, "row")}</Menu.Label>
      <Menu.Item disabled={isNone} onClick={() => save("jsonl")}>
        Trace of these rows (JSON Lines)
      </Menu.Item>
      <Menu.Item disabled={isNone} onClick={() => save("har")}>
        HTTP archive of these rows (HAR)
      </Menu.Item>
    </>
  );
}

export function ExportMenu({ runId, serverId, shown }: Props) {
  const title = useInspector((state) => state.servers.get(serverId ?? "")?.title) ?? serverId;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <FilteredItems runId={runId} serverId={serverId} shown={shown} />
        <Menu.Divider />
        <Menu.Label>The whole session, ignoring the filter</Menu.Label>
        {serverId !== null && (
          <>
            <WholeRunItems runId={runId} serverId={serverId} whose={title ?? serverId} />
            <Menu.Divider />
          </>
        )}
        <WholeRunItems runId={runId} serverId={null} whose="all servers" />
      </Menu.Dropdown>
    </Menu>
  );
}
