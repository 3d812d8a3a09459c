import { Button, Menu } from "@mantine/core";
import { modals } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import type { ExportView, ServerExport } from "../../api/types";
import { counted } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { save } from "../../parts/text";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";

const SHAPES: { shape: ServerExport["shape"]; label: string; file: string }[] = [
  { shape: "mcpServers", label: "mcp.json (Claude, Cursor, Windsurf)", file: "mcp.json" },
  { shape: "vscode", label: "VS Code", file: "mcp.vscode.json" },
  { shape: "codex", label: "Codex", file: "config.toml" },
];

function download(made: ExportView, file: string): void {
  save(made.text, file, "text/plain");
  for (const message of made.remarks) notifications.show({ message, autoClose: 8000 });
}

/** What is about to leave is said before it does. */
function askToDownload(made: ExportView, file: string): void {
  const values = counted(
    made.secret_count,
    "value in it looks like a secret",
    "values in it look like secrets",
  );
  modals.openConfirmModal({
    title: `Download ${file}?`,
    children: `${values}. Whoever gets the file can read them.`,
    labels: { confirm: "Download", cancel: "Cancel" },
    onConfirm: () => download(made, file),
  });
}

/** All servers in another tool's shape. */
export function ExportButton() {
  const take = async (shape: ServerExport["shape"], file: string): Promise<void> => {
    const made = await telling("The servers were not exported", command("ServerExport", { shape }));
    if (made) (made.secret_count ? askToDownload : download)(made, file);
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {SHAPES.map(({ shape, label, file }) => (
          <Menu.Item key={shape} onClick={() => void take(shape, file)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
