// Dialog that adds a server (paste, file, form, other tools) or edits one. Input is kept when the
// dialog is closed or the page reloaded, except secrets.
import { Button, Modal, Tabs } from "@mantine/core";
import { useEffect, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import type { ErrorView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { ErrorNote } from "../../components/ErrorNote";
import { dropDraft, useDraft } from "../../state/browserStorage";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import { errorViewOf } from "../../state/toasts";
import { useConnectAndShow } from "./addedServers";
import { freeName } from "./foundServers";
import { ImportFromTools } from "./ImportFromTools";
import { PasteServer } from "./PasteServer";
import { type EditedServer, ServerForm } from "./ServerForm";
import { type EntryForm, formOf, restoreForm, withoutSecrets } from "./serverEntry";

const BLANK = formOf("", {});

/** A form that restores its draft, if there is one. */
function useForm(key: string, initial: EntryForm) {
  const [kept, keep] = useDraft<EntryForm | null>(key, null);
  const [form, setForm] = useState(() => (kept ? restoreForm(kept, initial) : initial));
  const [isBack, setBack] = useState(kept !== null);
  const change = (next: EntryForm): void => {
    setForm(next);
    keep(withoutSecrets(next, initial));
  };
  return {
    form,
    isBack,
    change,
    /** Replace the draft. */
    replace(next: EntryForm) {
      change(next);
      setBack(false);
    },
    discard() {
      dropDraft(key);
      setForm(initial);
      setBack(false);
    },
  };
}

function UnsavedNotice({ onDiscard }: { onDiscard(): void }) {
  return (
    <Callout tone="info">
      <div className="row wrap">
        <span className="grow">
          You typed this before and did not save it. New values of variables and headers were not
          kept.
        </span>
        <Button variant="default" onClick={onDiscard}>
          Discard it
        </Button>
      </div>
    </Callout>
  );
}

interface EditFormProps {
  edited: EditedServer;
  initial: EntryForm;
  onClose(): void;
}

function EditForm({ edited, initial, onClose }: EditFormProps) {
  const verb = edited.isCopy ? "copy" : "edit";
  const { form, isBack, change, discard } = useForm(`server.${verb}.${edited.server_id}`, initial);
  return (
    <div className="stack">
      {isBack && <UnsavedNotice onDiscard={discard} />}
      <ServerForm
        edited={edited}
        form={form}
        onForm={change}
        onDone={() => {
          discard();
          onClose();
        }}
      />
    </div>
  );
}

/** Loads the entry of a server before showing its form. */
function EditServer({ edited, onClose }: { edited: EditedServer; onClose(): void }) {
  const { server_id, isCopy } = edited;
  const [initial, setInitial] = useState<EntryForm | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  useEffect(() => {
    command("ServerEntryOf", { server_id }).then(
      ({ raw, secrets }) =>
        setInitial(
          formOf(
            isCopy ? freeName(`${server_id}-copy`, useInspector.getState().servers) : server_id,
            raw,
            secrets,
          ),
        ),
      (thrown: unknown) => setError(errorViewOf(thrown)),
    );
  }, [server_id, isCopy]);
  if (error) return <ErrorNote error={error} title="The entry in the file could not be read" />;
  return initial && <EditForm edited={edited} initial={initial} onClose={onClose} />;
}

/** What the dialog was opened with: a text to read, or a tool whose servers are wanted. */
interface Opening {
  text?: string;
  tool?: string;
}

function AddServer({ onClose }: { onClose(): void }) {
  const { form, isBack, change, replace, discard } = useForm("server.new", BLANK);
  const opening = (useLocation().state as Opening | null) ?? {};
  const wanted = useSearchParams()[0].get("add");
  const [tab, setTab] = useState<string | null>(
    wanted || (isBack && opening.text === undefined ? "form" : "paste"),
  );
  const connectAndShow = useConnectAndShow();
  const fill = (next: EntryForm): void => {
    replace({ ...next, name: freeName(next.name, useInspector.getState().servers) });
    setTab("form");
  };
  const end = (): void => {
    discard();
    onClose();
  };
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="paste">Paste or file</Tabs.Tab>
        <Tabs.Tab value="form">Form</Tabs.Tab>
        <Tabs.Tab value="tools">From other tools</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="paste">
        <PasteServer initial={opening.text} onDone={onClose} onForm={fill} />
      </Tabs.Panel>
      <Tabs.Panel value="form">
        <div className="stack">
          {isBack && <UnsavedNotice onDiscard={discard} />}
          <ServerForm
            edited={null}
            form={form}
            onForm={change}
            onDone={end}
            onConnected={(server_id) => {
              discard();
              connectAndShow(server_id);
            }}
          />
        </div>
      </Tabs.Panel>
      <Tabs.Panel value="tools">
        <ImportFromTools tool={opening.tool} onDone={onClose} />
      </Tabs.Panel>
    </Tabs>
  );
}

const titleOf = (edited: EditedServer | null): string => {
  if (!edited) return "Add a server";
  return `${edited.isCopy ? "Duplicate" : "Edit"} ${edited.server_id}`;
};

export function ServerDialog({
  edited,
  onClose,
}: {
  edited: EditedServer | null;
  onClose(): void;
}) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={titleOf(edited)}
      size="lg"
      // Not centered, since tabs of different height would make it jump.
      centered={false}
      // An accidental click must not lose input.
      closeOnClickOutside={false}
    >
      {edited ? (
        <EditServer
          key={`${edited.isCopy} ${edited.server_id}`}
          edited={edited}
          onClose={onClose}
        />
      ) : (
        <AddServer onClose={onClose} />
      )}
    </Modal>
  );
}
