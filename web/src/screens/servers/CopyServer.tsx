// Dialog with one server in another tool's format, shown before copying since it may contain
// secrets.
import { Button, Modal, Select } from "@mantine/core";
import { useEffect, useState } from "react";
import type { ErrorView, ExportView, ServerExport, ServerView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { serverName } from "../../state/navigation";
import { errorViewOf } from "../../state/toasts";
import { pluralize } from "../../values/format";

type Shape = ServerExport["shape"];
const SHAPES: { value: Shape; label: string; place: string }[] = [
  {
    value: "mcpServers",
    label: "mcp.json (Claude, Cursor, Windsurf)",
    place: "For claude_desktop_config.json, .mcp.json, .cursor/mcp.json and the like.",
  },
  { value: "vscode", label: "VS Code", place: "For .vscode/mcp.json." },
  { value: "codex", label: "Codex", place: "For ~/.codex/config.toml." },
  { value: "commands", label: "Command line", place: "Adds it to mcplens, on any machine." },
];

function useExport(server_id: string, shape: Shape) {
  const [made, setMade] = useState<ExportView | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    let isLeft = false;
    setError(null);
    command("ServerExport", { shape, servers: [server_id] }).then(
      (next) => !isLeft && setMade(next),
      (thrown: unknown) => !isLeft && setError(errorViewOf(thrown)),
    );
    return () => {
      isLeft = true;
    };
  }, [server_id, shape]);
  return { made, error };
}

function Made({ made, place, onDone }: { made: ExportView; place: string; onDone(): void }) {
  const secrets = pluralize(
    made.secret_count,
    "value in it looks like a secret",
    "values in it look like secrets",
  );
  return (
    <>
      <span className="dim">{place}</span>
      <pre className="block">{made.text}</pre>
      {made.remarks.map((remark) => (
        <span key={remark} className="dim">
          {remark}
        </span>
      ))}
      {made.secret_count > 0 && (
        <Callout>{secrets}. Anyone who gets this text can read them.</Callout>
      )}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        <Button variant="default" onClick={onDone}>
          Close
        </Button>
        <Button disabled={made.text === ""} onClick={() => void copyText(made.text).then(onDone)}>
          Copy
        </Button>
      </div>
    </>
  );
}

export function CopyServer({ server, onClose }: { server: ServerView; onClose(): void }) {
  const [shape, setShape] = useState<Shape>("mcpServers");
  const { made, error } = useExport(server.server_id, shape);
  const place = SHAPES.find((one) => one.value === shape)?.place ?? "";
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Copy ${serverName(server)} as`}
      size="lg"
      centered={false}
    >
      <div className="stack">
        <Select
          label="For"
          data={SHAPES}
          allowDeselect={false}
          value={shape}
          onChange={(next) => setShape(next as Shape)}
        />
        {error && <ErrorNote error={error} />}
        {made && !error && <Made made={made} place={place} onDone={onClose} />}
      </div>
    </Modal>
  );
}
