// Experimental capabilities of both sides, and the tester that sends any JSON-RPC.
import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { Icon } from "../../parts/icons";
import { JsonTree } from "../../parts/JsonTree";
import { telling } from "../../state/actions";
import { command } from "../../state/connection";
import { useDraft } from "../../state/remembered";
import { RawTester, TEMPLATE } from "./RawTester";

const experimentalOf = (capabilities: Record<string, unknown>): Record<string, unknown> =>
  typeof capabilities.experimental === "object" && capabilities.experimental !== null
    ? (capabilities.experimental as Record<string, unknown>)
    : {};

function Advertised({ server }: { server: ServerView }) {
  const [name, setName] = useState("");
  const own = experimentalOf(server.client_capabilities);
  const put = (experimental: Record<string, unknown>): void =>
    void telling(
      "The capabilities were not changed",
      command("SetCapabilities", { server_id: server.server_id, capabilities: { experimental } }),
    );
  return (
    <section className="stack tight">
      <h2 className="section-title">Client experimental capabilities (advertised)</h2>
      {server.needs_reconnect && (
        <Callout tone="info">
          This connection was opened with others. Connect again to declare them.
        </Callout>
      )}
      {Object.keys(own).map((key) => (
        <div key={key} className="row">
          <span className="mono grow">{key}</span>
          <ActionIcon
            aria-label={`No longer advertise ${key}`}
            onClick={() => {
              const { [key]: _, ...rest } = own;
              put(rest);
            }}
          >
            <Icon name="close" size={14} />
          </ActionIcon>
        </div>
      ))}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          put({ ...own, [name]: {} });
          setName("");
        }}
      >
        <TextInput
          aria-label="Name of a capability"
          placeholder="Add a custom capability"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!name.trim()}>
          Advertise
        </Button>
      </form>
    </section>
  );
}

export function Experimental({ server }: { server: ServerView }) {
  const [text, setText] = useDraft(`raw.${server.server_id}`, TEMPLATE);
  const offered = Object.entries(experimentalOf(server.capabilities));
  const test = (value: unknown): void => {
    const methods =
      typeof value === "object" && value !== null ? (value as { methods?: unknown }).methods : null;
    const method = Array.isArray(methods) ? String(methods[0]) : "experimental/method";
    setText(JSON.stringify({ jsonrpc: "2.0", id: 1001, method, params: {} }, null, 2));
  };
  return (
    <div className="stack" style={{ maxWidth: 980 }}>
      <Callout>These features are outside the standard and may change or go away.</Callout>
      <section className="stack tight">
        <h2 className="section-title">Server experimental capabilities</h2>
        {offered.length === 0 && <p className="dim">This server declares none.</p>}
        {offered.map(([name, value]) => (
          <div key={name} className="card">
            <div className="row">
              <strong className="grow">{name}</strong>
              <Button variant="default" onClick={() => test(value)}>
                Test
              </Button>
            </div>
            <JsonTree value={value} label={name} most={160} withSearch={false} />
          </div>
        ))}
      </section>
      <Advertised server={server} />
      <RawTester server={server} text={text} onText={setText} />
    </div>
  );
}
