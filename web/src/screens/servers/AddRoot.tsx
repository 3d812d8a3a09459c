// Form to add a root.
import { Button, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { FolderView, ServerView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { FolderChooser } from "../../components/FolderChooser";
import { useDraft } from "../../state/browserStorage";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { useResolvedPath } from "./useResolvedPath";

const BLANK = { name: "", path: "" };

/** Shows where a path leads: relative paths start from mcplens' working folder. */
function ResolvedPathNote({ path }: { path: string }) {
  const lead = useResolvedPath(path);
  return (
    <div role="status">
      {lead?.problem && (
        <Callout>{lead.path ? `${lead.problem}. You can add it anyway.` : lead.problem}</Callout>
      )}
      {lead?.to && lead.to !== lead.of && <span className="dim">Resolves to {lead.to}</span>}
    </div>
  );
}

interface Props {
  server: ServerView;
  save: boolean;
  onSave(save: boolean): void;
}

export function AddRoot({ server, save, onSave }: Props) {
  const { server_id } = server;
  const [draft, setDraft] = useDraft(`root.${server_id}`, BLANK);
  const [folder, setFolder] = useState<FolderView | null>(null);
  const browse = async (): Promise<void> =>
    setFolder(
      await withErrorToast(
        "The folder cannot be read",
        command("BrowseFolder", { path: draft.path || null, is_start: true }),
      ),
    );
  const add = async (): Promise<void> => {
    const done = await withErrorToast(
      save ? "The root was not added to the file" : "The root was not added",
      command("AddRoot", { server_id, path: draft.path, name: draft.name || null, save }),
    );
    if (done) setDraft(BLANK);
  };
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <h2 className="section-title">Add a root</h2>
      <TextInput
        label="Name"
        value={draft.name}
        onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
      />
      <TextInput
        label="Path"
        description="Or a file:// URI"
        required
        value={draft.path}
        onChange={(event) => setDraft({ ...draft, path: event.currentTarget.value })}
      />
      <ResolvedPathNote path={draft.path} />
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        {server.is_editable && (
          <Switch
            label="Save to the file"
            checked={save}
            onChange={(event) => onSave(event.currentTarget.checked)}
          />
        )}
        <Button variant="default" onClick={() => void browse()}>
          Browse
        </Button>
        <Button type="submit" disabled={!draft.path}>
          Add
        </Button>
      </div>
      {folder && (
        <FolderChooser
          start={folder}
          onClose={() => setFolder(null)}
          onChoose={(path) => {
            setDraft({ ...draft, path });
            setFolder(null);
          }}
        />
      )}
    </form>
  );
}
