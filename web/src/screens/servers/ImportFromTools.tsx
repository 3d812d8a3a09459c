// Tab that imports servers of other tools on this computer.
import { Button } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import type { ErrorView, FoundView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { errorViewOf } from "../../state/toasts";
import { FoundServerList } from "./FoundServerList";
import { toolTitle } from "./foundServers";

interface Props {
  /** Only the servers of this tool. */
  tool?: string;
  onDone(): void;
}

export function ImportFromTools({ tool, onDone }: Props) {
  const [wanted, setWanted] = useState(tool);
  const [found, setFound] = useState<FoundView[] | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const [searches, setSearches] = useState(0);
  const look = useCallback(async (): Promise<void> => {
    await command("FoundServers", {}).then(setFound, (thrown: unknown) =>
      setError(errorViewOf(thrown)),
    );
    setSearches((count) => count + 1);
  }, []);
  useEffect(() => void look(), [look]);
  if (error) return <ErrorNote error={error} />;
  if (!found) return <p className="dim">Looking for the files of other tools…</p>;
  const shown = found.filter(({ source }) => wanted === undefined || source.kind === wanted);
  return (
    <div className="stack">
      {wanted !== undefined && shown.length < found.length && (
        <div className="row">
          <span className="grow">Servers of {toolTitle(wanted)}</span>
          <Button variant="default" onClick={() => setWanted(undefined)}>
            Show all {found.length}
          </Button>
        </div>
      )}
      <FoundServerList
        key={`${searches} ${wanted}`}
        found={shown}
        nothing="No servers of other tools were found on this computer. Looked for: Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Gemini CLI, Codex and Goose, for you and for the folder that mcplens was started in."
        areChosen={false}
        again={(one, filled) => command("ServerRead", { path: one.source.path, ...filled })}
        onDone={onDone}
        onFileChanged={() => void look()}
      />
    </div>
  );
}
