import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ServerExport } from "../../api/types";
import { Icon } from "../../parts/icons";
import { save } from "../../parts/text";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";

const SHAPES: { shape: ServerExport["shape"]; label: string; file: string }[] = [
  { shape: "mcpServers", label: "mcp.json (Claude, Cursor, Windsurf)", file: "mcp.json" },
  { shape: "vscode", label: "VS Code", file: "mcp.vscode.json" },
  { shape: "codex", label: "Codex", file: "config.toml" },
];

/** All servers in another tool's shape. */
export function ExportButton() {
  const take = async (shape: ServerExport["shape"], file: string): Promise<void> => {
    const made = await telling("The servers were not exported", command("ServerExport", { shape }));
    if (!made) return;
    save(made.text, file, "text/plain");
    for (const message of made.remarks) notifications.show({ message, autoClose: 8000 });
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
