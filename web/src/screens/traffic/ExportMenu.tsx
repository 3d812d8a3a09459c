// Saves a run, of the server that is shown or of all, as a trace or as an HTTP archive.
import { Button, Menu } from "@mantine/core";
import { exportPath } from "../../api/http";
import { Icon } from "../../parts/icons";
import { useInspector } from "../../state/store";
import { fileName } from "../../values/fileName";

interface Props {
  runId: string | null;
  /** Null where all servers are shown. */
  serverId: string | null;
}

/** Drawn when the menu opens, so that a file is named by the moment at which it is asked for. */
function Items({ runId, serverId, whose }: Props & { whose: string }) {
  const path = (format: "jsonl" | "har"): string =>
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

/** Filters other than the server are of the view: a trace with holes is of little use. */
export function ExportMenu({ runId, serverId }: Props) {
  const title = useInspector((state) => state.servers.get(serverId ?? "")?.title) ?? serverId;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>The whole run, whatever is filtered</Menu.Label>
        {serverId !== null && (
          <>
            <Items runId={runId} serverId={serverId} whose={title ?? serverId} />
            <Menu.Divider />
          </>
        )}
        <Items runId={runId} serverId={null} whose="all servers" />
      </Menu.Dropdown>
    </Menu>
  );
}
