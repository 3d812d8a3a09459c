// Adding a server: by form, by pasting a command line, URL or file, or from other tools' files.
import { Button, Modal, Tabs, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import type { ErrorView, FoundView, ServerView } from "../../api/types";
import { ErrorNote } from "../../parts/ErrorNote";
import { viewOf } from "../../state/actions";
import { command } from "../../state/connection";
import { dropDraft, useDraft } from "../../state/remembered";
import { EntryFields } from "./EntryFields";
import { type EntryForm, formOf, problemOf, rawOf } from "./entry";
import { FoundList } from "./FoundList";

const BLANK = formOf("", {});

interface FormProps {
  edited: { server: ServerView; isCopy: boolean } | null;
  form: EntryForm;
  onForm(form: EntryForm): void;
  onDone(): void;
}

function ByForm({ edited, form, onForm, onDone }: FormProps) {
  const [error, setError] = useState<ErrorView | null>(null);
  const problem = problemOf(form);
  const isEdit = edited !== null && !edited.isCopy;
  const save = async (): Promise<void> => {
    try {
      const raw = rawOf(form);
      const written = isEdit
        ? await command("ServerEdit", {
            server_id: edited.server.server_id,
            raw,
            name: form.name.trim(),
          })
        : await command("ServerAdd", { name: form.name.trim(), raw });
      notifications.show({ message: `${form.name} is in ${written.path}` });
      dropDraft("server.new");
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
          {isEdit ? "Save" : "Add"}
        </Button>
      </div>
    </form>
  );
}

function ByPaste({ onForm, onDone }: { onForm(form: EntryForm): void; onDone(): void }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState<FoundView[] | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const read = async (): Promise<void> => {
    setError(null);
    setFound(null);
    try {
      if (text.trim().startsWith("{") || text.includes("\n"))
        setFound(await command("ServerRead", { text }));
      else {
        const one = await command("ParseTarget", { text: text.trim() });
        onForm(formOf(one.name, one.raw));
      }
    } catch (thrown) {
      setError(viewOf(thrown));
    }
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
        onChange={(event) => setText(event.currentTarget.value)}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
      {error && <ErrorNote error={error} />}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button disabled={!text.trim()} onClick={() => void read()}>
          Read it
        </Button>
      </div>
      {found && <FoundList found={found} onDone={onDone} />}
    </div>
  );
}

function FromTools({ onDone }: { onDone(): void }) {
  const [found, setFound] = useState<FoundView[] | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    command("FoundServers", {}).then(setFound, (thrown: unknown) => setError(viewOf(thrown)));
  }, []);
  if (error) return <ErrorNote error={error} />;
  return found ? (
    <FoundList found={found} onDone={onDone} />
  ) : (
    <p className="dim">Looking for the files of other tools…</p>
  );
}

export function AddServer({
  edited,
  onClose,
}: {
  edited: { server: ServerView; isCopy: boolean } | null;
  onClose(): void;
}) {
  const [draft, setDraft] = useDraft<EntryForm>("server.new", BLANK);
  const [held, setHeld] = useState<EntryForm | null>(null);
  const [tab, setTab] = useState<string | null>(edited ? "form" : "paste");
  useEffect(() => {
    if (!edited) return;
    const { server, isCopy } = edited;
    command("ServerEntryOf", { server_id: server.server_id }).then(
      (entry) => setHeld(formOf(isCopy ? `${server.server_id}-copy` : server.server_id, entry.raw)),
      () => setHeld(formOf(server.server_id, {})),
    );
  }, [edited]);
  const title = !edited
    ? "Add a server"
    : edited.isCopy
      ? "Duplicate a server"
      : `Edit ${edited.server.server_id}`;
  const form = edited ? held : draft;
  const onForm = edited ? setHeld : setDraft;
  const byForm = form && <ByForm edited={edited} form={form} onForm={onForm} onDone={onClose} />;
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      {edited ? (
        byForm
      ) : (
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="paste">Paste</Tabs.Tab>
            <Tabs.Tab value="form">Form</Tabs.Tab>
            <Tabs.Tab value="tools">From other tools</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="paste">
            <ByPaste
              onDone={onClose}
              onForm={(next) => {
                onForm(next);
                setTab("form");
              }}
            />
          </Tabs.Panel>
          <Tabs.Panel value="form">{byForm}</Tabs.Panel>
          <Tabs.Panel value="tools">
            <FromTools onDone={onClose} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Modal>
  );
}
