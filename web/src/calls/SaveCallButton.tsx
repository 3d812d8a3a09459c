// Saves a call to a collection, with a name and a description.
import { ActionIcon, Button, Popover, Tooltip } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import type { CallView } from "../api/types";
import { Icon } from "../components/Icon";
import { useDraft, usePreference } from "../state/browserStorage";
import { command } from "../state/commands";
import css from "./CallPanel.module.css";
import { CollectionField, NameAndDescription } from "./SavedCallFields";
import { saveCall, useKnownCalls } from "./savedCalls";

/** A file name for the collection of a server. */
const safeName = (serverId: string): string => serverId.replace(/[/\\:*?"<>|]/g, "-");

export interface SavedFields {
  /** Folder and name of the collection, which is made if there is none. */
  key: string;
  name: string;
  description: string;
  /** Whether the answer is kept too, for `mcplens test` to expect it. */
  is_test: boolean;
}

interface FormProps {
  serverId: string;
  /** A name to begin with. */
  suggested?: string;
  /** Whether it can be saved without its answer. */
  canBeCall: boolean;
  onSave(fields: SavedFields): Promise<boolean>;
  onDone(): void;
}

export function SaveForm({ serverId, suggested = "", canBeCall, onSave, onDone }: FormProps) {
  const [name, setName] = useState(suggested);
  const [description, setDescription] = useState("");
  const [last, setLast] = usePreference("saved.collection", "");
  const [chosen, setChosen] = useDraft("saved.collection", "");
  const [key, setKey] = useState(chosen || last || safeName(serverId));
  useEffect(() => {
    if (chosen) return;
    // Who names a file at the start means to save to it.
    command("ListCollections", {}).then(
      ({ files }) => {
        const given = files.find((file) => file.is_given);
        if (given) setKey(given.key);
      },
      () => {},
    );
  }, [chosen]);
  const save = async (is_test: boolean): Promise<void> => {
    if (!(await onSave({ key: key.trim(), name, description, is_test }))) return;
    setLast(key.trim());
    setChosen(key.trim());
    onDone();
  };
  const submit = (form: FormEvent): void => {
    form.preventDefault();
    void save(!canBeCall);
  };
  const isIncomplete = !name.trim() || !key.trim();
  return (
    <form className="stack" onSubmit={submit}>
      <strong>{canBeCall ? "Save this call" : "Save as a test"}</strong>
      <NameAndDescription
        name={name}
        description={description}
        setName={setName}
        setDescription={setDescription}
      />
      <CollectionField value={key} onChange={setKey} />
      <span className="dim">
        Secrets, like tokens and passwords, are saved as <code>$&#123;NAME&#125;</code>. A test
        keeps the answer too: <code>mcplens test</code> then expects it.
      </span>
      <div className="row">
        {canBeCall && (
          <Button type="submit" size="compact-sm" disabled={isIncomplete}>
            Save
          </Button>
        )}
        <Button
          type={canBeCall ? "button" : "submit"}
          variant={canBeCall ? "default" : "filled"}
          size="compact-sm"
          disabled={isIncomplete}
          onClick={canBeCall ? () => void save(true) : undefined}
        >
          Save as test
        </Button>
        {isIncomplete && (
          <span className="dim">{name.trim() ? "Choose a collection" : "Enter a name"}</span>
        )}
      </div>
    </form>
  );
}

/** The name of what was called, with a number if a saved call has it already. */
export function suggestedName(called: string, taken: string[]): string {
  if (!taken.includes(called)) return called;
  const numbers = taken.map((_, index) => `${called} ${index + 2}`);
  return numbers.find((name) => !taken.includes(name)) ?? called;
}

export function SaveCallButton({ call }: { call: CallView }) {
  const [isOpen, setOpen] = useState(false);
  const tool = call.kind === "tool" ? { server_id: call.server_id, tool: call.name } : null;
  const saved = useKnownCalls(call.server_id, call.name);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus position="bottom-end" width={300}>
      <Tooltip label="Save this call to a collection, or as a test" disabled={isOpen}>
        <span className={css.target}>
          <Popover.Target>
            <ActionIcon aria-label="Save this call" onClick={() => setOpen(!isOpen)}>
              <Icon name="collections" />
            </ActionIcon>
          </Popover.Target>
        </span>
      </Tooltip>
      <Popover.Dropdown aria-label="Save to a collection">
        <SaveForm
          key={call.call_id}
          serverId={call.server_id}
          suggested={suggestedName(call.name, saved?.map((one) => one.name) ?? [])}
          canBeCall
          onSave={(fields) => saveCall(tool, { call_id: call.call_id, ...fields })}
          onDone={() => setOpen(false)}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
