// Dialog that exports servers in another tool's format.
import { Button, Checkbox, Modal, Select } from "@mantine/core";
import { modals } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { ExportView, ServerExport, ServerView } from "../../api/types";
import { downloadFile } from "../../components/download";
import { Icon } from "../../components/Icon";
import { command } from "../../state/commands";
import { serverName } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { pluralize } from "../../values/format";

// File formats only: commands are copied per server.
type Shape = Exclude<ServerExport["shape"], "commands">;
const SHAPES: { value: Shape; label: string; file: string }[] = [
  { value: "mcpServers", label: "mcp.json (Claude, Cursor, Windsurf)", file: "mcp.json" },
  { value: "vscode", label: "VS Code", file: "mcp.vscode.json" },
  { value: "codex", label: "Codex", file: "config.toml" },
];

function download(made: ExportView, file: string): void {
  downloadFile(made.text, file, "text/plain");
  for (const message of made.remarks) notifications.show({ message, autoClose: 8000 });
}

/** Confirms an export that contains secrets. */
function askToDownload(made: ExportView, file: string): void {
  const values = pluralize(
    made.secret_count,
    "value in it looks like a secret",
    "values in it look like secrets",
  );
  modals.openConfirmModal({
    title: `Download ${file}?`,
    children: `${values}. Anyone who gets the file can read them.`,
    labels: { confirm: "Download", cancel: "Cancel" },
    onConfirm: () => download(made, file),
  });
}

/** Configured servers, without the built-in demo. */
const exported = (servers: Map<string, ServerView>): ServerView[] =>
  [...servers.values()].filter((server) => server.source.kind !== "built-in");

function Choice({ servers, onClose }: { servers: ServerView[]; onClose(): void }) {
  const [left, setLeft] = useState<string[]>([]);
  const [shape, setShape] = useState<Shape>("mcpServers");
  const names = servers.map((server) => server.server_id).filter((name) => !left.includes(name));
  const file = SHAPES.find((one) => one.value === shape)?.file ?? "";
  const take = async (): Promise<void> => {
    const made = await withErrorToast(
      "The servers were not exported",
      command("ServerExport", { shape, servers: names }),
    );
    if (!made) return;
    onClose();
    (made.secret_count ? askToDownload : download)(made, file);
  };
  return (
    <Modal opened onClose={onClose} title="Export servers">
      <div className="stack">
        <Select
          label="For"
          data={SHAPES}
          allowDeselect={false}
          value={shape}
          onChange={(value) => setShape(value as Shape)}
        />
        <Checkbox.Group
          label="Servers"
          value={names}
          onChange={(chosen) =>
            setLeft(servers.map((one) => one.server_id).filter((name) => !chosen.includes(name)))
          }
        >
          <div className="stack" style={{ paddingTop: 8 }}>
            {servers.map((server) => (
              <Checkbox
                key={server.server_id}
                value={server.server_id}
                label={serverName(server)}
                styles={{ label: { overflowWrap: "anywhere" } }}
              />
            ))}
          </div>
        </Checkbox.Group>
        <div className="row wrap" style={{ justifyContent: "flex-end" }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={names.length === 0} onClick={() => void take()}>
            Download {file}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

export function ExportServers() {
  const servers = exported(useInspector((state) => state.servers));
  const [isOpen, setOpen] = useState(false);
  if (servers.length === 0) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" size={14} />}
        onClick={() => setOpen(true)}
      >
        Export
      </Button>
      {isOpen && <Choice servers={servers} onClose={() => setOpen(false)} />}
    </>
  );
}
