// Form to add or edit a server.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { ErrorView, WrittenView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { rememberServer } from "../../state/lastVisited";
import { useInspector } from "../../state/store";
import { errorViewOf, withErrorToast } from "../../state/toasts";
import { EntryFields } from "./EntryFields";
import { nameProblemOf } from "./foundServers";
import { type EntryForm, problemOf, rawOf } from "./serverEntry";

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
  if (edited.isCopy) return command("ServerAdd", { name, raw, copy_of: server_id });
  return command("ServerEdit", { server_id, raw, name });
}

/** Reports a name that is in use; the built-in server can be replaced. */
function useNameProblem(edited: EditedServer | null, name: string): string | null {
  const servers = useInspector((state) => state.servers);
  const own = edited && !edited.isCopy ? edited.server_id : null;
  if (name === "" || name === own || servers.get(name)?.source.kind === "built-in") return null;
  return nameProblemOf(name, servers, []);
}

interface Props {
  edited: EditedServer | null;
  form: EntryForm;
  onForm(form: EntryForm): void;
  /** Saved or cancelled. */
  onDone(): void;
}

export function ServerForm({ edited, form, onForm, onDone }: Props) {
  const [error, setError] = useState<ErrorView | null>(null);
  const nameProblem = useNameProblem(edited, form.name.trim());
  const problem = problemOf(form);
  const isNew = edited === null;
  const isOff = problem !== null || nameProblem !== null;
  const save = async (isConnected: boolean): Promise<void> => {
    try {
      const { path, servers } = await saveEntry(edited, form);
      notifications.show({ message: `${form.name} was saved to ${path}` });
      for (const server_id of servers) {
        if (isNew || edited.isCopy) rememberServer(server_id);
        if (isConnected)
          void withErrorToast(
            `Could not connect to ${server_id}`,
            command("Connect", { server_id }),
          );
      }
      onDone();
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOff) void save(isNew);
      }}
    >
      <EntryFields
        form={form}
        nameProblem={nameProblem}
        isTrusting={edited?.isTrusting ?? false}
        onChange={onForm}
      />
      {error && <ErrorNote error={error} />}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        {problem && <span className="dim grow">{problem}</span>}
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
