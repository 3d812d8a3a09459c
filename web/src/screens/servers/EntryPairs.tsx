// Name/value pairs of a server's entry, with saved secrets masked and refused values marked.
import { type KeyValue, KeyValueFields } from "../../components/KeyValueFields";
import type { FieldErrors } from "../../values/fieldErrors";
import { type SecretPlace, SecretValue } from "./SecretValue";

interface Props {
  name: SecretPlace["key"];
  /** The server that has the saved secrets; null for a new one. */
  server_id: string | null;
  errors: FieldErrors;
  label: string;
  noun: string;
  hint?: string;
  value: KeyValue[];
  onChange(value: KeyValue[]): void;
}

export function EntryPairs({ name: key, server_id, errors, ...shown }: Props) {
  const errorOf = (name: string): string | null => errors.get(`${key}.${name}`) ?? null;
  return (
    <KeyValueFields
      {...shown}
      errorOf={errorOf}
      drawValue={([name, value, saved], label, onValue) =>
        saved && server_id !== null ? (
          <SecretValue
            key={saved.name}
            place={{ server_id, key }}
            saved={saved}
            value={value}
            label={label}
            error={errorOf(name)}
            onChange={onValue}
          />
        ) : null
      }
    />
  );
}
