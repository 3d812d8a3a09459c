// Experimental capabilities of both sides, and the tester that sends any JSON-RPC.
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import type { ServerView } from "../../api/types";
import { Callout } from "../../parts/Callout";
import { JsonTree } from "../../parts/JsonTree";
import { fieldsOf } from "../../parts/shape";
import { useDraft } from "../../state/remembered";
import { ConnectAgain } from "../servers/Declared";
import { NamedCapabilities } from "./NamedCapabilities";
import { RawTester, TEMPLATE } from "./RawTester";

/** A message that tries a capability: its first method, if it names any. */
export function trialOf(value: unknown): string {
  const { methods } = fieldsOf(value);
  const named = Array.isArray(methods) ? methods.find((one) => typeof one === "string") : undefined;
  const method = named ?? "experimental/method";
  return JSON.stringify({ jsonrpc: "2.0", id: 1001, method, params: {} }, null, 2);
}

interface OfferedProps {
  server: ServerView;
  onTest(text: string): void;
}

function Offered({ server, onTest }: OfferedProps) {
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
              onClick={() => onTest(trialOf(value))}
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
  const [text, setText] = useDraft(`raw.${server.server_id}`, TEMPLATE);
  // What a test put aside, and what it put in its place.
  const [aside, setAside] = useState<{ former: string; trial: string } | null>(null);
  const tester = useRef<HTMLDivElement>(null);
  const test = (trial: string): void => {
    const isOwn = text !== TEMPLATE && text !== trial && text !== aside?.trial;
    if (isOwn) setAside({ former: text, trial });
    else if (aside) setAside({ ...aside, trial });
    setText(trial);
    tester.current?.scrollIntoView({ block: "start" });
    tester.current?.querySelector<HTMLElement>("[aria-label='Message to send']")?.focus();
  };
  return (
    <div className="stack" style={{ maxWidth: 980 }}>
      <Callout>These features are outside the standard and may change or go away.</Callout>
      <Offered server={server} onTest={test} />
      <section className="stack tight">
        <h2 className="section-title">Client experimental capabilities (advertised)</h2>
        <ConnectAgain server={server} />
        <NamedCapabilities server={server} kind="experimental" />
      </section>
      <div ref={tester} className="stack">
        {aside && (
          <Callout tone="info">
            <div className="row wrap">
              <span className="grow">The message that you had typed was put aside.</span>
              <Button
                variant="default"
                onClick={() => {
                  setText(aside.former);
                  setAside(null);
                }}
              >
                Bring it back
              </Button>
            </div>
          </Callout>
        )}
        <RawTester server={server} text={text} onText={setText} />
      </div>
    </div>
  );
}
