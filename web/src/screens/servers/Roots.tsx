// The folders that a server may know of.
import { ActionIcon, Button, Modal, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { FolderView, ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { Icon } from "../../parts/icons";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";
import { useDraft } from "../../state/remembered";

function Chooser({
  start,
  onChoose,
  onClose,
}: {
  start: FolderView;
  onChoose(path: string): void;
  onClose(): void;
}) {
  const [folder, setFolder] = useState(start);
  const go = async (path: string): Promise<void> => {
    const next = await telling("The folder cannot be read", command("BrowseFolder", { path }));
    if (next) setFolder(next);
  };
  return (
    <Modal opened onClose={onClose} title="Choose a folder" size="lg">
      <div className="stack">
        <span className="mono">{folder.path}</span>
        <div
          style={{
            height: 320,
            overflow: "auto",
            border: "1px solid var(--line)",
            borderRadius: 5,
          }}
        >
          {folder.parent !== null && (
            <Button
              fullWidth
              justify="flex-start"
              variant="subtle"
              color="gray"
              leftSection={<Icon name="folder" size={14} />}
              onClick={() => void go(folder.parent ?? "/")}
            >
              .. (one up)
            </Button>
          )}
          {folder.folders.map((name) => (
            <Button
              key={name}
              fullWidth
              justify="flex-start"
              variant="subtle"
              color="gray"
              leftSection={<Icon name="folder" size={14} />}
              onClick={() => void go(`${folder.path.replace(/\/$/, "")}/${name}`)}
            >
              {name}
            </Button>
          ))}
        </div>
        {folder.is_cut && <span className="dim">There are more; type the path instead.</span>}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={() => onChoose(folder.path)}>Choose this folder</Button>
        </div>
      </div>
    </Modal>
  );
}

export function Roots({ server }: { server: ServerView }) {
  const { server_id, roots } = server;
  const [draft, setDraft] = useDraft(`root.${server_id}`, { name: "", path: "" });
  const [folder, setFolder] = useState<FolderView | null>(null);
  const [save, setSave] = useState(false);
  const browse = async (): Promise<void> =>
    setFolder(
      await telling(
        "The folder cannot be read",
        command("BrowseFolder", { path: draft.path || null }),
      ),
    );
  const add = async (): Promise<void> => {
    const done = await telling(
      save ? "The root was not added to the file" : "The root was not added",
      command("AddRoot", { server_id, path: draft.path, name: draft.name || null, save }),
    );
    if (done) setDraft({ name: "", path: "" });
  };
  return (
    <div className="stack" style={{ maxWidth: 800 }}>
      <p style={{ margin: 0 }}>
        Filesystem roots exposed to this server. It is told when they change.
      </p>
      {roots.length === 0 ? (
        <p className="dim">No roots. The server sees an empty list.</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th>Name</th>
              <th>URI</th>
              <th>
                <span className="sr">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {roots.map((root) => (
              <tr key={root.uri}>
                <td>{root.name}</td>
                <td className="mono">{root.uri}</td>
                <td>
                  <ActionIcon
                    aria-label={`Remove ${root.uri}`}
                    onClick={() =>
                      void telling(
                        save
                          ? "The root was not taken out of the file"
                          : "The root was not removed",
                        command("RemoveRoot", { server_id, uri: root.uri, save }),
                      )
                    }
                  >
                    <Icon name="trash" size={14} />
                  </ActionIcon>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
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
          required
          value={draft.path}
          onChange={(event) => setDraft({ ...draft, path: event.currentTarget.value })}
        />
        <div className="row" style={{ justifyContent: "flex-end" }}>
          {server.is_editable && (
            <Switch
              label="Keep in the file"
              checked={save}
              onChange={(event) => setSave(event.currentTarget.checked)}
            />
          )}
          <Button variant="default" onClick={() => void browse()}>
            Browse
          </Button>
          <Button type="submit" disabled={!draft.path}>
            Add
          </Button>
        </div>
      </form>
      <Callout>
        Roots tell the server which folders it may work in. Only add folders that you trust it with.
      </Callout>
      {folder && (
        <Chooser
          start={folder}
          onClose={() => setFolder(null)}
          onChoose={(path) => {
            setDraft({ ...draft, path });
            setFolder(null);
          }}
        />
      )}
    </div>
  );
}
