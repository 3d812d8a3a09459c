// Experimental capabilities of both sides, and the raw JSON-RPC tester.
import { Button } from "@mantine/core";
import { useRef } from "react";
import type { ServerView } from "../../../api/types";
import { Callout } from "../../../components/Callout";
import { JsonTree } from "../../../components/JsonTree";
import { RawTester } from "../../../raw/RawTester";
import { requestMessage, useRawDraft } from "../../../state/rawDraft";
import { fieldsOf } from "../../../values/jsonObject";
import { ReconnectNotice } from "../DeclaredCapabilities";
import { NamedCapabilities } from "./NamedCapabilities";

/** A message that tries a capability: its first method, if it names any. */
export function trialMessage(server: ServerView, value: unknown): string {
  const { methods } = fieldsOf(value);
  const named = Array.isArray(methods) ? methods.find((one) => typeof one === "string") : undefined;
  return requestMessage(server, named ?? "experimental/method");
}

interface OfferedProps {
  server: ServerView;
  onTest(text: string): void;
}

function ServerCapabilities({ server, onTest }: OfferedProps) {
  const offered = Object.entries(fieldsOf(server.capabilities.experimental));
  return (
    <section className="stack tight">
      <h2 className="section-title">Server experimental capabilities</h2>
      {server.protocol_version === null ? (
        <p className="dim">Connect to see what this server declares.</p>
      ) : (
        offered.length === 0 && <p className="dim">This server declares none.</p>
      )}
      {offered.map(([name, value]) => (
        <div key={name} className="card">
          <div className="row">
            <strong className="grow">{name}</strong>
            <Button
              variant="default"
              aria-label={`Test ${name}`}
              onClick={() => onTest(trialMessage(server, value))}
            >
              Test
            </Button>
          </div>
          <JsonTree value={value} label={name} most={160} withSearch={false} />
        </div>
      ))}
    </section>
  );
}

export function Experimental({ server }: { server: ServerView }) {
  const message = useRawDraft(server);
  const tester = useRef<HTMLDivElement>(null);
  const test = (trial: string): void => {
    message.place(trial);
    tester.current?.scrollIntoView({ block: "start" });
    tester.current?.querySelector<HTMLElement>("[aria-label='Message to send']")?.focus();
  };
  return (
    <div className="stack">
      <div ref={tester}>
        <RawTester server={server} message={message} />
      </div>
      <div className="stack" style={{ maxWidth: 980 }}>
        <h2 className="title">Experimental capabilities</h2>
        <Callout>These features are outside the standard and may change or be removed.</Callout>
        <ServerCapabilities server={server} onTest={test} />
        <section className="stack tight">
          <h2 className="section-title">Client experimental capabilities (advertised)</h2>
          <ReconnectNotice server={server} />
          <NamedCapabilities server={server} kind="experimental" />
        </section>
      </div>
    </div>
  );
}
