// Advanced fields of a server's entry: timeouts, limits, TLS, secrets.
import { Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useEffect, useRef } from "react";
import { NumberInput } from "../../components/NumberInput";
import type { FieldErrors } from "../../values/fieldErrors";
import css from "./AdvancedFields.module.css";
import { EntryPairs } from "./EntryPairs";
import { errorAt } from "./fieldErrors";
import { type EntryForm, type FlagKey, type NumberKey, TEXTS, type TextKey } from "./serverEntry";

const REVISIONS = [
  { value: "", label: "Automatic" },
  ...["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].map((value) => ({
    value,
    label: value,
  })),
];

const ANSWERS = [
  { value: "", label: "Default (yes)" },
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

interface Props {
  form: EntryForm;
  /** What was refused, by key. */
  errors: FieldErrors;
  onChange(form: EntryForm): void;
}

interface FieldProps<Key> extends Props {
  name: Key;
  label: string;
  hint: string;
}

interface NumberProps extends FieldProps<NumberKey> {
  min?: number;
}

function NumberField({ form, errors, onChange, name, label, hint, min = 0 }: NumberProps) {
  return (
    <NumberInput
      label={label}
      description={hint}
      value={form[name]}
      error={errorAt(errors, name)}
      min={min}
      onChange={(value) => onChange({ ...form, [name]: value })}
    />
  );
}

function FlagField({ form, errors, onChange, name, label, hint }: FieldProps<FlagKey>) {
  return (
    <Switch
      label={label}
      // Mantine includes the description in the label.
      aria-label={label}
      description={hint}
      checked={form[name]}
      error={errorAt(errors, name)}
      onChange={(event) => onChange({ ...form, [name]: event.currentTarget.checked })}
    />
  );
}

interface TextProps extends FieldProps<TextKey> {
  isFocused?: boolean;
}

function TextField(props: TextProps) {
  const { form, errors, onChange, name, label, hint, isFocused = false } = props;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, [isFocused]);
  return (
    <TextInput
      ref={field}
      label={label}
      description={hint}
      value={form[name]}
      error={errorAt(errors, TEXTS[name])}
      onChange={(event) => onChange({ ...form, [name]: event.currentTarget.value })}
    />
  );
}

function TimeoutFields(props: Props) {
  const { form, errors, onChange } = props;
  const set = (part: Partial<EntryForm>): void => onChange({ ...form, ...part });
  const number = (name: NumberKey, label: string, hint: string, min = 0) => (
    <NumberField {...props} name={name} label={label} hint={hint} min={min} />
  );
  return (
    <div className={css.times}>
      <Select
        label="Protocol revision"
        description="Used with this server"
        data={REVISIONS}
        allowDeselect={false}
        value={form.protocolVersion}
        error={errorAt(errors, "protocolVersion")}
        onChange={(value) => set({ protocolVersion: value ?? "" })}
      />
      {number("connectionTimeout", "Connecting, ms", "For one attempt; 0: no limit")}
      {number("requestTimeout", "Request, ms", "For an answer; 0: no limit")}
      <Select
        label="Progress restarts the clock"
        description="For requests that report progress"
        data={ANSWERS}
        allowDeselect={false}
        value={form.progressResetsTimeout}
        error={errorAt(errors, "progressResetsTimeout")}
        onChange={(value) =>
          set({ progressResetsTimeout: value === "true" || value === "false" ? value : "" })
        }
      />
      {number("maxTotalTimeout", "Request in total, ms", "Including progress; 0: no limit")}
      {number("pingInterval", "Ping, ms", "Between pings; 0: none")}
      {number("maxRetries", "Retries", "After a failed attempt")}
      <TextInput
        label="Waits between retries, ms"
        description="One per retry"
        placeholder="1000, 2000, 4000"
        value={form.retryBackoff}
        error={errorAt(errors, "retryBackoff")}
        onChange={(event) => set({ retryBackoff: event.currentTarget.value })}
      />
      {number("maxConcurrency", "Requests at once", "In flight; 16 if empty", 1)}
      {number(
        "maxMessageBytes",
        "Largest message, bytes",
        "Larger ones are rejected; 64 MiB if empty",
        1,
      )}
    </div>
  );
}

function EnvironmentFields(props: Props) {
  return (
    <>
      <TextField
        {...props}
        name="envFile"
        label="Environment file"
        hint="Lines of NAME=value; values under Environment take precedence"
      />
      <FlagField
        {...props}
        name="inheritEnv"
        label="Pass the whole environment of mcplens"
        hint="Off: only what programs need to run, such as HOME and PATH, and the variables above"
      />
    </>
  );
}

function TlsFields({ isTrusting, ...props }: Props & { isTrusting: boolean }) {
  return (
    <>
      <TextField
        {...props}
        name="caFile"
        label="Certificates to trust"
        hint="A PEM file of certificate authorities, besides those of the system"
        isFocused={isTrusting}
      />
      <FlagField
        {...props}
        name="insecure"
        label="Accept any certificate"
        hint="For tests only: anyone between you and the server can read and change everything, including tokens"
      />
    </>
  );
}

interface AdvancedProps extends Props {
  server_id: string | null;
  isTrusting: boolean;
}

export function AdvancedFields({ server_id, ...props }: AdvancedProps) {
  const { form, errors, onChange } = props;
  const set = (part: Partial<EntryForm>): void => onChange({ ...form, ...part });
  return (
    <div className="stack">
      {form.kind === "command" ? <EnvironmentFields {...props} /> : <TlsFields {...props} />}
      <TimeoutFields {...props} />
      <Textarea
        label="_meta for every call"
        description="A JSON object"
        autosize
        minRows={2}
        value={form.meta}
        error={errorAt(errors, "meta")}
        onChange={(event) => set({ meta: event.currentTarget.value })}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
      <EntryPairs
        name="secretKeys"
        server_id={server_id}
        errors={errors}
        label="Secret keys"
        hint="JSON members, headers and options that are never recorded. A value is needed only to send a recorded call again."
        noun="secret key"
        value={form.secretKeys}
        onChange={(secretKeys) => set({ secretKeys })}
      />
      <TextField {...props} name="title" label="Title" hint="Shown instead of the name" />
      <FlagField
        {...props}
        name="enabled"
        label="Enabled"
        hint="Off: the command line does not use it"
      />
    </div>
  );
}
