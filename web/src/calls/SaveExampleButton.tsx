// Saves a tool call as a named example.
import { Button, Popover, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { CallView } from "../api/types";
import { saveExample } from "./examples";

// The backend's limit.
const LONGEST = 100;

export function SaveExampleButton({ call }: { call: CallView }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    setOpen(false);
    setName("");
    void saveExample({ server_id: call.server_id, tool: call.name }, call.call_id, name);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={280}>
      <Popover.Target>
        <Button size="compact-xs" variant="default" onClick={() => setOpen(!isOpen)}>
          Save as example
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form className="stack" onSubmit={submit}>
          <TextInput
            label="Name of the example"
            description="Values under names like token or password are left out."
            maxLength={LONGEST}
            value={name}
            onChange={(change) => setName(change.currentTarget.value)}
            data-autofocus
          />
          <Button type="submit" size="compact-sm" disabled={!name.trim()}>
            Save
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
