// The form of one server's entry.
import {
  Collapse,
  NumberInput,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Icon } from "../../parts/icons";
import { Pairs } from "../../parts/Pairs";
import css from "./EntryFields.module.css";
import type { EntryForm } from "./entry";

const TRANSPORTS = [
  { value: "", label: "Automatic" },
  { value: "http", label: "Streamable HTTP" },
  { value: "sse", label: "HTTP + SSE (older)" },
  { value: "websocket", label: "WebSocket" },
];
const REVISIONS = [
  { value: "", label: "Automatic" },
  ...["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].map((value) => ({
    value,
    label: value,
  })),
];

const ANSWERS = [
  { value: "", label: "Not said (yes)" },
  { value: "true", label: "Yes" },
  { value: "false", label: "No" },
];

interface Props {
  form: EntryForm;
  onChange(form: EntryForm): void;
}

interface EntryProps extends Props {
  /** Why the server cannot be called so. */
  nameProblem: string | null;
}

type NumberKey =
  | "connectionTimeout"
  | "requestTimeout"
  | "maxTotalTimeout"
  | "pingInterval"
  | "maxRetries";

function NumberField({
  form,
  onChange,
  name,
  label,
  hint,
}: Props & { name: NumberKey; label: string; hint: string }) {
  return (
    <NumberInput
      label={label}
      description={hint}
      value={form[name]}
      min={0}
      onChange={(value) => onChange({ ...form, [name]: typeof value === "number" ? value : "" })}
    />
  );
}

function Advanced({ form, onChange }: Props) {
  const set = (part: Partial<EntryForm>): void => onChange({ ...form, ...part });
  const number = (name: NumberKey, label: string, hint: string) => (
    <NumberField form={form} onChange={onChange} name={name} label={label} hint={hint} />
  );
  return (
    <div className="stack">
      <div className={css.times}>
        <Select
          label="Protocol revision"
          description="To speak with this server"
          data={REVISIONS}
          allowDeselect={false}
          value={form.protocolVersion}
          onChange={(value) => set({ protocolVersion: value ?? "" })}
        />
        {number("connectionTimeout", "Connecting, ms", "For one attempt; 0: no limit")}
        {number("requestTimeout", "Request, ms", "For an answer; 0: no limit")}
        <Select
          label="Progress restarts the clock"
          description="Of a request that reports it"
          data={ANSWERS}
          allowDeselect={false}
          value={form.progressResetsTimeout}
          onChange={(value) =>
            set({ progressResetsTimeout: value === "true" || value === "false" ? value : "" })
          }
        />
        {number("maxTotalTimeout", "Request in all, ms", "With progress; 0: no limit")}
        {number("pingInterval", "Ping, ms", "Between pings; 0: none")}
        {number("maxRetries", "Retries", "After a failed attempt")}
        <TextInput
          label="Waits between retries, ms"
          description="One for each of them"
          placeholder="1000, 2000, 4000"
          value={form.retryBackoff}
          onChange={(event) => set({ retryBackoff: event.currentTarget.value })}
        />
      </div>
      <Textarea
        label="_meta for every call"
        description="A JSON object"
        autosize
        minRows={2}
        value={form.meta}
        onChange={(event) => set({ meta: event.currentTarget.value })}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
    </div>
  );
}

export function EntryFields({ form, nameProblem, onChange }: EntryProps) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const set = (part: Partial<EntryForm>): void => onChange({ ...form, ...part });
  return (
    <div className="stack">
      <TextInput
        label="Name"
        required
        error={nameProblem}
        value={form.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label="How the server is reached"
        value={form.kind}
        onChange={(kind) => set({ kind: kind === "url" ? "url" : "command" })}
        data={[
          { value: "command", label: "Command (stdio)" },
          { value: "url", label: "URL" },
        ]}
      />
      {form.kind === "command" ? (
        <>
          <TextInput
            label="Program"
            required
            placeholder="npx, uvx, python, /path/to/server"
            value={form.command}
            onChange={(event) => set({ command: event.currentTarget.value })}
          />
          <Textarea
            label="Arguments"
            description="One per line"
            autosize
            minRows={2}
            maxRows={8}
            value={form.args}
            onChange={(event) => set({ args: event.currentTarget.value })}
            styles={{ input: { fontFamily: "var(--mono)" } }}
          />
          <Pairs
            label="Environment"
            noun="variable"
            value={form.env}
            onChange={(env) => set({ env })}
          />
          <TextInput
            label="Working folder"
            value={form.cwd}
            onChange={(event) => set({ cwd: event.currentTarget.value })}
          />
        </>
      ) : (
        <>
          <TextInput
            label="URL"
            required
            placeholder="https://example.com/mcp"
            value={form.url}
            onChange={(event) => set({ url: event.currentTarget.value })}
          />
          <Select
            label="Transport"
            data={TRANSPORTS}
            allowDeselect={false}
            value={form.transport}
            onChange={(value) => set({ transport: value ?? "" })}
          />
          <Pairs
            label="Headers"
            noun="header"
            value={form.headers}
            onChange={(headers) => set({ headers })}
          />
        </>
      )}
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} className="disclosure">
        <Icon name={isOpen ? "down" : "chevron"} size={12} /> Timeouts, revision and more
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Advanced form={form} onChange={onChange} />
      </Collapse>
    </div>
  );
}
