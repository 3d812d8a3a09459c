// The form of one server's entry.
import {
  Collapse,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Icon } from "../../components/Icon";
import { KeyValueFields } from "../../components/KeyValueFields";
import { AdvancedFields } from "./AdvancedFields";
import type { EntryForm } from "./serverEntry";

const TRANSPORTS = [
  { value: "", label: "Automatic" },
  { value: "http", label: "Streamable HTTP" },
  { value: "sse", label: "HTTP + SSE (older)" },
  { value: "websocket", label: "WebSocket" },
];
interface Props {
  form: EntryForm;
  onChange(form: EntryForm): void;
}

interface EntryProps extends Props {
  /** Why the name cannot be used. */
  nameProblem: string | null;
  /** Opened from a certificate error: focuses the field for trusted certificates. */
  isTrusting: boolean;
}

export function EntryFields({ form, nameProblem, isTrusting, onChange }: EntryProps) {
  const [isOpen, { toggle }] = useDisclosure(isTrusting);
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
          <KeyValueFields
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
          <KeyValueFields
            label="Headers"
            noun="header"
            value={form.headers}
            onChange={(headers) => set({ headers })}
          />
        </>
      )}
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} className="disclosure">
        <Icon name={isOpen ? "down" : "chevron"} size={12} /> Advanced: timeouts, revision and more
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <AdvancedFields form={form} isTrusting={isTrusting} onChange={onChange} />
      </Collapse>
    </div>
  );
}
