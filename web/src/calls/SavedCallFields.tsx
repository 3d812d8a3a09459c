// Fields of a saved call that more than one form has: its name, its description, its collection.
import { Autocomplete, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { command } from "../state/commands";

// The backend's limit.
const LONGEST = 100;

interface NameProps {
  name: string;
  description: string;
  setName(name: string): void;
  setDescription(description: string): void;
}

/** Name, which has the focus when the form opens, and description. */
export function NameAndDescription({ name, description, setName, setDescription }: NameProps) {
  return (
    <>
      <TextInput
        label="Name"
        maxLength={LONGEST}
        value={name}
        onChange={(change) => setName(change.currentTarget.value)}
        onFocus={(focus) => focus.currentTarget.select()}
        data-autofocus
      />
      <Textarea
        label="Description"
        autosize
        minRows={1}
        maxRows={4}
        value={description}
        onChange={(change) => setDescription(change.currentTarget.value)}
      />
    </>
  );
}

/** The collection to save to: one of those that exist, or a new one. */
export function CollectionField({
  value,
  onChange,
}: {
  value: string;
  onChange(key: string): void;
}) {
  const [known, setKnown] = useState<string[]>([]);
  const loadKnown = (): void => {
    command("ListCollections", {}).then(
      ({ files }) => setKnown(files.map((file) => file.key)),
      () => {},
    );
  };
  return (
    <Autocomplete
      label="Collection"
      description="Type a new name to create a file; use folder/name for a folder"
      data={known}
      value={value}
      onFocus={loadKnown}
      onChange={onChange}
      // In a popover: a click into the menu is not a click outside of it.
      comboboxProps={{ withinPortal: false }}
    />
  );
}
