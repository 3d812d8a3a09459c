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
import type { FieldErrors } from "../../values/fieldErrors";
import { AdvancedFields } from "./AdvancedFields";
import { EntryPairs } from "./EntryPairs";
import { errorAt, isAdvanced } from "./fieldErrors";
import type { EntryForm } from "./serverEntry";

const TRANSPORTS = [
  { value: "", label: "Automatic" },
  { value: "http", label: "Streamable HTTP" },
  { value: "sse", label: "HTTP + SSE (older)" },
  { value: "websocket", label: "WebSocket" },
];
interface Props {
  form: EntryForm;
  /** The server that has the saved secrets of the form; null for a new one. */
  server_id: string | null;
  /** What was refused, by key. */
  errors: FieldErrors;
  onChange(form: EntryForm): void;
  /** Why the name cannot be used. */
  nameProblem: string | null;
  /** Opened from a certificate error: focuses the field for trusted certificates. */
  isTrusting: boolean;
}

export function EntryFields(props: Props) {
  const { form, server_id, errors, nameProblem, isTrusting, onChange } = props;
  const [isOpen, { toggle, open }] = useDisclosure(isTrusting);
  const isMarked = [...errors.keys()].some(isAdvanced);
  // While it is drawn, so that a marked field is there to be focused.
  if (isMarked && !isOpen) open();
  const set = (part: Partial<EntryForm>): void => onChange({ ...form, ...part });
  return (
    <div className="stack">
      <TextInput
        label="Name"
        required
        error={nameProblem ?? errorAt(errors, "@name")}
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
            error={errorAt(errors, "command")}
            onChange={(event) => set({ command: event.currentTarget.value })}
          />
          <Textarea
            label="Arguments"
            description="One per line"
            autosize
            minRows={2}
            maxRows={8}
            value={form.args}
            error={errorAt(errors, "args")}
            onChange={(event) => set({ args: event.currentTarget.value })}
            styles={{ input: { fontFamily: "var(--mono)" } }}
          />
          <EntryPairs
            label="Environment"
            noun="variable"
            name="env"
            server_id={server_id}
            errors={errors}
            value={form.env}
            onChange={(env) => set({ env })}
          />
          <TextInput
            label="Working folder"
            value={form.cwd}
            error={errorAt(errors, "cwd")}
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
            error={errorAt(errors, "url")}
            onChange={(event) => set({ url: event.currentTarget.value })}
          />
          <Select
            label="Transport"
            data={TRANSPORTS}
            allowDeselect={false}
            value={form.transport}
            error={errorAt(errors, "transport")}
            onChange={(value) => set({ transport: value ?? "" })}
          />
          <EntryPairs
            label="Headers"
            noun="header"
            name="headers"
            server_id={server_id}
            errors={errors}
            value={form.headers}
            onChange={(headers) => set({ headers })}
          />
        </>
      )}
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} className="disclosure">
        <Icon name={isOpen ? "down" : "chevron"} size={12} /> Advanced: timeouts, revision and more
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <AdvancedFields {...props} />
      </Collapse>
    </div>
  );
}
