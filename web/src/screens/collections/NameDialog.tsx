// Asks for the name and the folder of a collection.
import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { ErrorView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { useBusy } from "../../components/useBusy";
import { errorViewOf } from "../../state/toasts";

interface Props {
  title: string;
  confirm: string;
  initial?: { folder: string; name: string };
  /** Rejects if that cannot be done; the dialog then says why. */
  onDone(folder: string, name: string): Promise<void>;
  onClose(): void;
}

export function NameDialog({ title, confirm, initial, onDone, onClose }: Props) {
  const [name, setName] = useState(initial?.name ?? "");
  const [folder, setFolder] = useState(initial?.folder ?? "");
  const [error, setError] = useState<ErrorView | null>(null);
  const { isBusy, run } = useBusy();
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    run(async () => {
      try {
        await onDone(folder.trim(), name.trim());
        onClose();
      } catch (thrown) {
        setError(errorViewOf(thrown));
      }
    });
  };
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="stack" onSubmit={submit}>
        <TextInput
          label="Name"
          description="The file is called NAME.mcp.yaml"
          value={name}
          onChange={(change) => setName(change.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label="Folder"
          description="Optional, like billing or billing/refunds"
          value={folder}
          onChange={(change) => setFolder(change.currentTarget.value)}
        />
        {error && <ErrorNote error={error} />}
        <div className="row">
          <span className="dim grow">{name.trim() ? "" : "Enter a name"}</span>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!name.trim()}>
            {confirm}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
