// Saves a run, of the server that is shown or of all, as a trace or as an HTTP archive.
import { Button, Menu } from "@mantine/core";
import { exportPath } from "../../api/http";
import { Icon } from "../../parts/icons";
import { useInspector } from "../../state/store";

interface Props {
  runId: string | null;
  /** Null where all servers are shown. */
  serverId: string | null;
}

/** Filters other than the server are of the view: a trace with holes is of little use. */
export function ExportMenu({ runId, serverId }: Props) {
  const title = useInspector((state) => state.servers.get(serverId ?? "")?.title) ?? serverId;
  const items = (whose: string, id: string | null) => (
    <>
      <Menu.Item component="a" href={exportPath("jsonl", runId, id)} download>
        Trace of {whose} (JSON Lines)
      </Menu.Item>
      <Menu.Item component="a" href={exportPath("har", runId, id)} download>
        HTTP archive of {whose} (HAR)
      </Menu.Item>
    </>
  );
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
            {items(title ?? serverId, serverId)}
            <Menu.Divider />
          </>
        )}
        {items("all servers", null)}
      </Menu.Dropdown>
    </Menu>
  );
}
