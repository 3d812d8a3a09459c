// Editable name/value pairs, one per row: headers, environment variables. A value that is saved and
// secret can be drawn by its owner (`drawValue`).
import { Input, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { AddRowButton, RemoveRowButton } from "./RowButtons";

/** A secret that the backend has: the name that it is saved under, and the mask shown for it. */
export interface SavedSecret {
  name: string;
  mask: string;
}

export type KeyValue = [name: string, value: string, saved?: SavedSecret];

interface Props<Pair extends KeyValue> {
  label: string;
  noun: string;
  hint?: string;
  value: Pair[];
  onChange(value: Pair[]): void;
  /** Why the pair of this name was refused. */
  errorOf?(name: string): string | null;
  /** A field for the value, in place of a text field; null for a text field. */
  drawValue?(pair: Pair, label: string, onValue: (value: string) => void): ReactNode;
}

export function KeyValueFields<Pair extends KeyValue>({
  label,
  noun,
  hint,
  value,
  onChange,
  errorOf,
  drawValue,
}: Props<Pair>) {
  const put = (at: number, name: string, text: string): void =>
    onChange(
      value.map((one, index) => {
        if (index !== at) return one;
        const [, , ...rest] = one;
        return [name, text, ...rest] as Pair;
      }),
    );
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0 }} className="stack tight">
      <legend className="section-title" style={{ padding: 0, marginBottom: 4 }}>
        {label}
      </legend>
      {hint && <Input.Description>{hint}</Input.Description>}
      {value.map((pair, index) => {
        const [name, text] = pair;
        const valueLabel = `Value of ${noun} ${index + 1}`;
        return (
          <div key={index} className="row wrap" style={{ alignItems: "flex-start" }}>
            <TextInput
              aria-label={`Name of ${noun} ${index + 1}`}
              placeholder="Name"
              value={name}
              onChange={(event) => put(index, event.currentTarget.value, text)}
              style={{ flex: "1 1 140px" }}
            />
            {drawValue?.(pair, valueLabel, (next) => put(index, name, next)) ?? (
              <TextInput
                aria-label={valueLabel}
                placeholder="Value"
                style={{ flex: "3 1 200px" }}
                value={text}
                error={errorOf?.(name)}
                onChange={(event) => put(index, name, event.currentTarget.value)}
              />
            )}
            <RemoveRowButton
              label={`Remove ${noun} ${index + 1}`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      <AddRowButton onClick={() => onChange([...value, ["", ""] as unknown as Pair])}>
        Add a {noun}
      </AddRowButton>
    </fieldset>
  );
}
