// Adding or changing a server by its form.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { ErrorView, WrittenView } from "../../api/types";
import { ErrorNote } from "../../parts/ErrorNote";
import { viewOf } from "../../state/actions";
import { command } from "../../state/connection";
import { EntryFields } from "./EntryFields";
import { type EntryForm, problemOf, rawOf } from "./entry";

/** The server whose entry the form began with. */
export interface Edited {
  server_id: string;
  isCopy: boolean;
}

function written(edited: Edited | null, form: EntryForm): Promise<WrittenView> {
  const raw = rawOf(form);
  const name = form.name.trim();
  if (!edited) return command("ServerAdd", { name, raw });
  const { server_id } = edited;
  if (edited.isCopy) return command("ServerAdd", { name, raw, copy_of: server_id });
  return command("ServerEdit", { server_id, raw, name });
}

interface Props {
  edited: Edited | null;
  form: EntryForm;
  onForm(form: EntryForm): void;
  /** It is written, or not wanted any more. */
  onDone(): void;
}

export function ByForm({ edited, form, onForm, onDone }: Props) {
  const [error, setError] = useState<ErrorView | null>(null);
  const problem = problemOf(form);
  const save = async (): Promise<void> => {
    try {
      const { path } = await written(edited, form);
      notifications.show({ message: `${form.name} is in ${path}` });
      onDone();
    } catch (thrown) {
      setError(viewOf(thrown));
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!problem) void save();
      }}
    >
      <EntryFields form={form} onChange={onForm} />
      {error && <ErrorNote error={error} />}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        {problem && <span className="dim grow">{problem}</span>}
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button type="submit" disabled={problem !== null}>
          {edited && !edited.isCopy ? "Save" : "Add"}
        </Button>
      </div>
    </form>
  );
}
