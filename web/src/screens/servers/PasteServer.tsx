// Tab that adds servers from pasted text or a file: a command line, a URL, any tool's
// configuration.
import { Button, FileButton, Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { ErrorView, FoundView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { command } from "../../state/commands";
import { errorViewOf } from "../../state/toasts";
import { FoundServerList } from "./FoundServerList";
import { isCompleteTarget, isFileContent, joinLines } from "./pastedText";
import { type EntryForm, formOf } from "./serverEntry";

interface Read {
  text: string;
  file_name: string | null;
  found: FoundView[];
}

interface Props {
  /** A text to read at once. */
  initial?: string;
  onForm(form: EntryForm): void;
  onDone(): void;
}

export function PasteServer({ initial = "", onForm, onDone }: Props) {
  const [text, setText] = useState(initial);
  const [read, setRead] = useState<Read | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const trying = async (work: () => Promise<void>): Promise<void> => {
    setError(null);
    setRead(null);
    try {
      await work();
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  const readAs = async (content: string, file_name: string | null): Promise<void> => {
    const found = await command("ServerRead", { text: content, file_name });
    setRead({ text: content, file_name, found });
  };
  const readText = (typed: string): Promise<void> =>
    trying(async () => {
      if (isFileContent(typed)) return readAs(typed, null);
      const one = await command("ParseTarget", { text: joinLines(typed) });
      onForm(formOf(one.name, one.raw));
    });
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once, as the dialog opens
  useEffect(() => {
    if (initial) void readText(initial);
  }, []);
  const isPasted = useRef(false);
  const type = (next: string): void => {
    setText(next);
    // A complete paste is read at once; edited text may not be finished.
    if (isPasted.current && text.trim() === "" && isCompleteTarget(next)) void readText(next);
    isPasted.current = false;
  };
  const readFile = (file: File | null): void => {
    if (file) void trying(async () => readAs(await file.text(), file.name));
  };
  return (
    <div className="stack">
      <Textarea
        data-autofocus
        label="Command line, URL, or the content of a configuration file"
        placeholder={
          'npx -y @modelcontextprotocol/server-everything\nhttps://example.com/mcp\n{ "mcpServers": { … } }'
        }
        autosize
        minRows={4}
        maxRows={16}
        value={text}
        onPaste={() => {
          isPasted.current = true;
        }}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim())
            void readText(text);
        }}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
      {error && <ErrorNote error={error} />}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        <FileButton onChange={readFile} accept=".json,.jsonc,.toml,.yaml,.yml">
          {(props) => (
            <Button {...props} variant="default" leftSection={<Icon name="file" size={14} />}>
              Choose a file
            </Button>
          )}
        </FileButton>
        <Button disabled={!text.trim()} onClick={() => void readText(text)}>
          Continue
        </Button>
      </div>
      <p className="dim" style={{ margin: 0 }}>
        Files of Claude, Cursor, Windsurf, VS Code, Gemini CLI, Codex and Goose, whole or in part, a{" "}
        <code>claude mcp add</code> line, and a <code>server.json</code> of the MCP registry.
      </p>
      {read && (
        <FoundServerList
          found={read.found}
          nothing={
            'No server is named in there. One looks like "name": { "command": "npx", "args": [] } or "name": { "url": "https://…" }.'
          }
          areChosen
          again={(_, filled) =>
            command("ServerRead", { text: read.text, file_name: read.file_name, ...filled })
          }
          onDone={onDone}
        />
      )}
    </div>
  );
}
