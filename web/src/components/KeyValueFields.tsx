// Editable name/value pairs, one per row: headers, environment variables.
import { Input, TextInput } from "@mantine/core";
import { AddRowButton, RemoveRowButton } from "./RowButtons";

interface Props {
  label: string;
  noun: string;
  hint?: string;
  value: [string, string][];
  onChange(value: [string, string][]): void;
}

export function KeyValueFields({ label, noun, hint, value, onChange }: Props) {
  const put = (at: number, pair: [string, string]): void =>
    onChange(value.map((one, index) => (index === at ? pair : one)));
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0 }} className="stack tight">
      <legend className="section-title" style={{ padding: 0, marginBottom: 4 }}>
        {label}
      </legend>
      {hint && <Input.Description>{hint}</Input.Description>}
      {value.map(([name, text], index) => (
        <div key={index} className="row wrap">
          <TextInput
            aria-label={`Name of ${noun} ${index + 1}`}
            placeholder="Name"
            value={name}
            onChange={(event) => put(index, [event.currentTarget.value, text])}
            style={{ flex: "1 1 140px" }}
          />
          <TextInput
            aria-label={`Value of ${noun} ${index + 1}`}
            placeholder="Value"
            style={{ flex: "3 1 200px" }}
            value={text}
            onChange={(event) => put(index, [name, event.currentTarget.value])}
          />
          <RemoveRowButton
            label={`Remove ${noun} ${index + 1}`}
            onClick={() => onChange(value.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <AddRowButton onClick={() => onChange([...value, ["", ""]])}>Add a {noun}</AddRowButton>
    </fieldset>
  );
}
