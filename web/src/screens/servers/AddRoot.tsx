// The form of a new root.
import { Button, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { ErrorView, FolderView, ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { telling, viewOf } from "../../state/actions";
import { command } from "../../state/connection";
import { useDraft } from "../../state/remembered";
import { FolderChooser } from "./FolderChooser";

const BLANK = { name: "", path: "" };

interface Lead {
  of: string;
  to?: string;
  problem?: string;
}

/** A folder that cannot be looked at may still be a root; what is no path cannot. */
const problemIn = ({ message, details }: ErrorView): string =>
  details.path === undefined ? message : `${message}. You can add it all the same.`;

/** Where a path leads, or why it cannot be looked at; null while nothing is known of it. */
function useLead(typed: string) {
  const [path] = useDebouncedValue(typed.trim(), 200);
  const [lead, setLead] = useState<Lead | null>(null);
  useEffect(() => {
    let isLeft = false;
    const found = (next: Omit<Lead, "of">): void => {
      if (!isLeft) setLead({ of: path, ...next });
    };
    if (path)
      command("BrowseFolder", { path }).then(
        (folder) => found({ to: folder.path }),
        (thrown: unknown) => found({ problem: problemIn(viewOf(thrown)) }),
      );
    return () => {
      isLeft = true;
    };
  }, [path]);
  return lead?.of === typed.trim() ? lead : null;
}

/** Told in place: a relative path leads from the folder that mcplens was started in. */
function Whereto({ path }: { path: string }) {
  const lead = useLead(path);
  return (
    <div role="status">
      {lead?.problem && <Callout>{lead.problem}</Callout>}
      {lead?.to && lead.to !== lead.of && <span className="dim">Leads to {lead.to}</span>}
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
      await telling(
        "The folder cannot be read",
        command("BrowseFolder", { path: draft.path || null, is_start: true }),
      ),
    );
  const add = async (): Promise<void> => {
    const done = await telling(
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
      <Whereto path={draft.path} />
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        {server.is_editable && (
          <Switch
            label="Keep in the file"
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
