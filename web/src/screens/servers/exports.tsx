// Servers exported in some format: the formats, and what one cannot hold.
import { useEffect, useState } from "react";
import type { ErrorView, ExportRemarkView, ExportView, ServerExport } from "../../api/types";
import { Callout } from "../../components/Callout";
import { command } from "../../state/commands";
import { errorViewOf } from "../../state/toasts";

export type Shape = ServerExport["shape"];

interface ShapeOption {
  value: Shape;
  label: string;
  /** Where the text belongs. */
  place: string;
  /** The name of a downloaded file; commands are copied only. */
  file: string | null;
}

export const SHAPES: ShapeOption[] = [
  {
    value: "mcplens",
    label: "mcplens (nothing is lost)",
    place: "For mcplens on another machine, or as a backup.",
    file: "mcp.json",
  },
  {
    value: "mcpServers",
    label: "mcp.json (Claude, Cursor, Windsurf)",
    place: "For claude_desktop_config.json, .mcp.json, .cursor/mcp.json and the like.",
    file: "mcp.json",
  },
  { value: "vscode", label: "VS Code", place: "For .vscode/mcp.json.", file: "mcp.vscode.json" },
  { value: "codex", label: "Codex", place: "For ~/.codex/config.toml.", file: "config.toml" },
  {
    value: "commands",
    label: "Command line",
    place: "Adds it to mcplens, on any machine.",
    file: null,
  },
];

interface Made {
  export: ExportView;
  /** What was asked for. */
  of: string;
}

/**
 * The export of these servers, made again when the choice changes. Until the new one is there, the
 * last one stays in sight, and is not fresh.
 */
export function useExport(servers: string[], shape: Shape) {
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const of = JSON.stringify({ shape, servers });
  useEffect(() => {
    let isLeft = false;
    setError(null);
    const asked: Pick<ServerExport, "shape"> & { servers: string[] } = JSON.parse(of);
    // No names would mean all servers.
    if (asked.servers.length === 0) setMade(null);
    else
      command("ServerExport", asked).then(
        (next) => !isLeft && setMade({ export: next, of }),
        (thrown: unknown) => !isLeft && setError(errorViewOf(thrown)),
      );
    return () => {
      isLeft = true;
    };
  }, [of]);
  return { made: made?.export ?? null, isFresh: made?.of === of && error === null, error };
}

/** What the format cannot hold, by server. */
export function ExportRemarks({ remarks }: { remarks: ExportRemarkView[] }) {
  if (remarks.length === 0) return null;
  const names = [...new Set(remarks.map(({ server }) => server))];
  return (
    <Callout>
      <strong>Not everything is in it</strong>
      {names.map((name) => (
        <div key={name} style={{ overflowWrap: "anywhere" }}>
          <span className="mono">{name}</span>:{" "}
          {remarks
            .filter(({ server }) => server === name)
            .map(({ text }) => text)
            .join("; ")}
        </div>
      ))}
    </Callout>
  );
}
