// Form to add or edit a server.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef, useState } from "react";
import type { WrittenView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { rememberServer } from "../../state/lastVisited";
import { useInspector } from "../../state/store";
import { errorViewOf } from "../../state/toasts";
import { EntryFields } from "./EntryFields";
import { isAllMarked, marksOf, type Refusal } from "./fieldErrors";
import { nameProblemOf } from "./foundServers";
import { type EntryForm, problemOf, rawOf, savedNames } from "./serverEntry";

/** The edited or copied server. */
export interface EditedServer {
  server_id: string;
  isCopy: boolean;
  /** Opened from a certificate error. */
  isTrusting?: boolean;
}

function saveEntry(edited: EditedServer | null, form: EntryForm): Promise<WrittenView> {
  const raw = rawOf(form);
  const name = form.name.trim();
  if (!edited) return command("ServerAdd", { name, raw });
  const { server_id } = edited;
  const saved = savedNames(form);
  if (edited.isCopy) return command("ServerAdd", { name, raw, copy_of: server_id, saved });
  return command("ServerEdit", { server_id, raw, name, saved });
}

/** Reports a name that is in use; the built-in server can be replaced. */
function useNameProblem(edited: EditedServer | null, name: string): string | null {
  const servers = useInspector((state) => state.servers);
  const own = edited && !edited.isCopy ? edited.server_id : null;
  if (name === "" || name === own || servers.get(name)?.source.kind === "built-in") return null;
  return nameProblemOf(name, servers, []);
}

const fieldsToChange = (count: number): string =>
  count === 1 ? "change the marked field" : `change the ${count} marked fields`;

/** Focuses the first field that was refused. */
function useFirstMark(refusal: Refusal | null) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusal) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusal]);
  return form;
}

interface Props {
  edited: EditedServer | null;
  form: EntryForm;
  onForm(form: EntryForm): void;
  /** Saved or cancelled. */
  onDone(): void;
  /** Added, and to be connected. */
  onConnected?(server_id: string): void;
}

export function ServerForm({ edited, form, onForm, onDone, onConnected }: Props) {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const marks = marksOf(refusal, form);
  const fields = useFirstMark(refusal);
  const nameProblem = useNameProblem(edited, form.name.trim());
  const problem = problemOf(form);
  const isNew = edited === null;
  const isOff = problem !== null || nameProblem !== null;
  const save = async (isConnected: boolean): Promise<void> => {
    try {
      const { path, servers } = await saveEntry(edited, form);
      notifications.show({ message: `${form.name} was saved to ${path}` });
      const [server_id] = servers;
      if (server_id !== undefined && (isNew || edited.isCopy)) rememberServer(server_id);
      if (server_id !== undefined && isConnected && onConnected) onConnected(server_id);
      else onDone();
    } catch (thrown) {
      setRefusal({ error: errorViewOf(thrown), form });
    }
  };
  return (
    <form
      ref={fields}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOff) void save(isNew);
      }}
    >
      <EntryFields
        form={form}
        server_id={edited?.server_id ?? null}
        errors={marks}
        nameProblem={nameProblem}
        isTrusting={edited?.isTrusting ?? false}
        onChange={onForm}
      />
      {refusal && !isAllMarked(refusal) && <ErrorNote error={refusal.error} title="Not saved" />}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        <span className={problem ? "dim grow" : "grow"} role="status">
          {problem ?? (marks.size > 0 && `Not saved: ${fieldsToChange(marks.size)}`)}
        </span>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        {isNew && (
          <Button variant="default" disabled={isOff} onClick={() => void save(false)}>
            Add
          </Button>
        )}
        <Button type="submit" disabled={isOff}>
          {isNew ? "Add and connect" : edited.isCopy ? "Add" : "Save"}
        </Button>
      </div>
    </form>
  );
}
