// Adding a server: by pasting or a file, by form, or from other tools' files; and changing one.
import { Modal, Tabs } from "@mantine/core";
import { useEffect, useState } from "react";
import type { ErrorView } from "../../api/types";
import { ErrorNote } from "../../parts/ErrorNote";
import { viewOf } from "../../state/actions";
import { command } from "../../state/connection";
import { useDraft } from "../../state/remembered";
import { ByForm, type Edited } from "./ByForm";
import { ByPaste } from "./ByPaste";
import { type EntryForm, formOf } from "./entry";
import { FromTools } from "./FromTools";

const BLANK = formOf("", {});

/** The form of a server that is there; without its entry there is nothing to save over. */
function Change({ edited, onClose }: { edited: Edited; onClose(): void }) {
  const [form, setForm] = useState<EntryForm | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    const { server_id } = edited.server;
    const name = edited.isCopy ? `${server_id}-copy` : server_id;
    command("ServerEntryOf", { server_id }).then(
      ({ raw }) => setForm(formOf(name, raw)),
      (thrown: unknown) => setError(viewOf(thrown)),
    );
  }, [edited]);
  if (error) return <ErrorNote error={error} title="What the file says of it cannot be read" />;
  return form && <ByForm edited={edited} form={form} onForm={setForm} onDone={onClose} />;
}

function Add({ onClose }: { onClose(): void }) {
  const [form, setForm] = useDraft<EntryForm>("server.new", BLANK);
  const [tab, setTab] = useState<string | null>("paste");
  const fill = (next: EntryForm): void => {
    setForm(next);
    setTab("form");
  };
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="paste">Paste or file</Tabs.Tab>
        <Tabs.Tab value="form">Form</Tabs.Tab>
        <Tabs.Tab value="tools">From other tools</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="paste">
        <ByPaste onDone={onClose} onForm={fill} />
      </Tabs.Panel>
      <Tabs.Panel value="form">
        <ByForm edited={null} form={form} onForm={setForm} onDone={onClose} />
      </Tabs.Panel>
      <Tabs.Panel value="tools">
        <FromTools onDone={onClose} />
      </Tabs.Panel>
    </Tabs>
  );
}

export function AddServer({ edited, onClose }: { edited: Edited | null; onClose(): void }) {
  const title = !edited
    ? "Add a server"
    : edited.isCopy
      ? "Duplicate a server"
      : `Edit ${edited.server.server_id}`;
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      {edited ? <Change edited={edited} onClose={onClose} /> : <Add onClose={onClose} />}
    </Modal>
  );
}
