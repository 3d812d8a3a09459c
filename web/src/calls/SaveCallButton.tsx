// Saves a call to a collection, with a name and a description.
import { ActionIcon, Button, Popover } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { CallView } from "../api/types";
import { Icon } from "../components/Icon";
import { usePreference } from "../state/browserStorage";
import { CollectionField, NameAndDescription } from "./SavedCallFields";
import { saveCall } from "./savedCalls";

/** A file name for the collection of a server. */
const safeName = (serverId: string): string => serverId.replace(/[/\\:*?"<>|]/g, "-");

function Form({ call, onDone }: { call: CallView; onDone(): void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [last, setLast] = usePreference("saved.collection", "");
  const [key, setKey] = useState(last || safeName(call.server_id));
  const submit = async (form: FormEvent): Promise<void> => {
    form.preventDefault();
    const tool = call.kind === "tool" ? { server_id: call.server_id, tool: call.name } : null;
    const { call_id } = call;
    if (!(await saveCall(tool, { call_id, key: key.trim(), name, description }))) return;
    setLast(key.trim());
    onDone();
  };
  return (
    <form className="stack" onSubmit={(form) => void submit(form)}>
      <NameAndDescription
        name={name}
        description={description}
        setName={setName}
        setDescription={setDescription}
      />
      <CollectionField value={key} onChange={setKey} />
      <span className="dim">
        Secrets, like tokens and passwords, are saved as <code>$&#123;NAME&#125;</code>.
      </span>
      <Button type="submit" size="compact-sm" disabled={!name.trim() || !key.trim()}>
        Save
      </Button>
    </form>
  );
}

export function SaveCallButton({ call }: { call: CallView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={300}>
      <Popover.Target>
        <ActionIcon
          aria-label="Save"
          title="Save this call to a collection"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="collections" />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Save to a collection">
        <Form key={call.call_id} call={call} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
