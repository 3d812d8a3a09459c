// Non-standard capabilities that we declare: names with any JSON value.
import { Button, Checkbox, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { ServerView } from "../../../api/types";
import { RemoveRowButton } from "../../../components/RowButtons";
import { command } from "../../../state/commands";
import { DEFAULT_EXTENSIONS } from "../../../state/protocol";
import { withErrorToast } from "../../../state/toasts";
import { parseJson } from "../../../values/json";
import { fieldsOf } from "../../../values/jsonObject";
import { withNamed } from "../capabilities";

type Kind = "experimental" | "extensions";

interface Props {
  server: ServerView;
  kind: Kind;
}

/** Value of one capability; valid JSON is saved on blur. */
function Value({ name, value, put }: { name: string; value: unknown; put(next: unknown): void }) {
  const [text, setText] = useState<string | null>(null);
  const parsed = parseJson(text ?? "{}");
  const take = (): void => {
    if (text === null || !parsed.ok) return;
    put(parsed.value);
    setText(null);
  };
  return (
    <TextInput
      aria-label={`Value of ${name}`}
      className="grow"
      value={text ?? JSON.stringify(value)}
      error={text !== null && !parsed.ok ? "Not JSON" : undefined}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === "Enter" && take()}
      styles={{ input: { fontFamily: "var(--mono)" } }}
    />
  );
}

function AddCapability({ noun, add }: { noun: string; add(name: string, value: unknown): void }) {
  const [name, setName] = useState("");
  const [text, setText] = useState("{}");
  const parsed = parseJson(text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!name.trim() || !parsed.ok) return;
    add(name.trim(), parsed.value);
    setName("");
    setText("{}");
  };
  return (
    <form className="row wrap" onSubmit={submit}>
      <TextInput
        aria-label={`Name of an ${noun}`}
        placeholder="Add a custom one"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        aria-label={`Value of the new ${noun}`}
        className="grow"
        value={text}
        error={parsed.ok ? undefined : "Not JSON"}
        onChange={(event) => setText(event.currentTarget.value)}
        styles={{ input: { fontFamily: "var(--mono)" } }}
      />
      <Button type="submit" variant="default" disabled={!name.trim() || !parsed.ok}>
        Advertise
      </Button>
    </form>
  );
}

export function NamedCapabilities({ server, kind }: Props) {
  const { server_id, client_capabilities: ours } = server;
  const noun = kind === "experimental" ? "experimental capability" : "extension";
  const own = fieldsOf(ours[kind]);
  const offered = fieldsOf(server.capabilities[kind]);
  const put = (name: string, value: unknown): void =>
    void withErrorToast(
      "The capabilities were not changed",
      command("SetCapabilities", { server_id, capabilities: withNamed(ours, kind, name, value) }),
    );
  // Always listed: the extensions that we handle ourselves.
  const handled = kind === "extensions" ? DEFAULT_EXTENSIONS : {};
  const known = [...new Set([...Object.keys(offered), ...Object.keys(handled)])];
  const custom = Object.keys(own).filter((name) => !known.includes(name));
  return (
    <div className="stack tight">
      {known.map((name) => (
        <div key={name} className="row wrap">
          <Checkbox
            style={{ flex: "0 1 240px" }}
            label={name}
            description={name in offered ? "The server offers it" : undefined}
            checked={name in own}
            onChange={(event) =>
              put(name, event.currentTarget.checked ? (handled[name] ?? {}) : undefined)
            }
          />
          {name in own && <Value name={name} value={own[name]} put={(value) => put(name, value)} />}
        </div>
      ))}
      {custom.map((name) => (
        <div key={name} className="row wrap">
          <span className="mono">{name}</span>
          <Value name={name} value={own[name]} put={(value) => put(name, value)} />
          <RemoveRowButton
            label={`No longer advertise ${name}`}
            onClick={() => put(name, undefined)}
          />
        </div>
      ))}
      <AddCapability noun={noun} add={put} />
    </div>
  );
}
