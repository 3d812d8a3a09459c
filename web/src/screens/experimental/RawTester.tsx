// Sends what is typed, byte for byte, and shows what comes back.
import { Button, Menu, Tooltip } from "@mantine/core";
import { useMemo, useState } from "react";
import { fetchRequest } from "../../api/http";
import type { CallView, ErrorView, ServerView } from "../../api/types";
import { CallPanel, StatusBadge } from "../../calls/CallPanel";
import { asJsonRpc } from "../../calls/copyAs";
import { Callout } from "../../parts/Callout";
import { CodeEditor } from "../../parts/CodeEditor";
import { ErrorNote } from "../../parts/ErrorNote";
import { parseExactly } from "../../parts/exactJson";
import { clock, cut, duration } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { Pairs } from "../../parts/Pairs";
import { parseJson } from "../../parts/text";
import { useRunKey } from "../../parts/useRunKey";
import { telling, viewOf } from "../../state/actions";
import { startCall } from "../../state/connection";
import { useDraft } from "../../state/remembered";
import { useInspector } from "../../state/store";
import { takesHeaders } from "../../state/transport";

export const TEMPLATE = `{
  "jsonrpc": "2.0",
  "id": 1001,
  "method": "ping",
  "params": {}
}`;

interface Props {
  server: ServerView;
  text: string;
  onText(text: string): void;
}

/** A stdio server reads a line as a message, so line breaks between the tokens of valid JSON go. */
export function bytesToSend(text: string, isLine: boolean): string {
  if (!isLine || !text.includes("\n")) return text;
  return parseJson(text).ok ? text.replace(/\r?\n\s*/g, " ") : text;
}

/** What is said of line breaks beside the button; null where they go as typed. */
export function aboutLines(text: string, isLine: boolean): string | null {
  if (!isLine || !text.includes("\n")) return null;
  return parseJson(text).ok
    ? "A stdio server reads one line as one message: line breaks become spaces."
    : "A stdio server reads each of these lines as a message.";
}

/** Whether the message was judged, and may be sent as it is all the same. */
const isJudged = (error: ErrorView): boolean =>
  error.code === "INVALID_REQUEST" && Array.isArray(error.details.findings);

interface HistoryProps {
  calls: CallView[];
  onChoose(call: CallView): void;
  onLoad(call: CallView): void;
}

function History({ calls, onChoose, onLoad }: HistoryProps) {
  if (!calls.length) return null;
  return (
    <section className="stack tight" aria-label="Request history">
      <h2 className="section-title">Request history</h2>
      {calls.slice(0, 20).map((call) => {
        const at = clock(call.started, false);
        return (
          <div key={call.call_id} className="row">
            <button type="button" className="plain row" onClick={() => onChoose(call)}>
              <span className="mono dim">{at}</span>
              <span className="mono cut">{call.method || "raw"}</span>
              <StatusBadge call={call} />
              {call.elapsed_s !== null && <span className="dim">{duration(call.elapsed_s)}</span>}
            </button>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-label={`Load ${call.method || "raw"} of ${at}`}
              onClick={() => onLoad(call)}
            >
              Load
            </Button>
          </div>
        );
      })}
    </section>
  );
}

export function RawTester({ server, text, onText }: Props) {
  const [headers, setHeaders] = useDraft<[string, string][]>(`raw.${server.server_id}.headers`, []);
  const [shown, setShown] = useState<string | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const all = useInspector((state) => state.calls);
  const calls = useMemo(
    () =>
      [...all.values()]
        .filter((call) => call.server_id === server.server_id)
        .sort((one, other) => other.started - one.started),
    [all, server.server_id],
  );
  const raw = calls.filter((call) => call.kind === "raw" || call.kind === "request");
  const current = all.get(shown ?? "") ?? raw[0];
  const isConnected = server.state === "CONNECTED";
  const send = (force: boolean): void => {
    setError(null);
    const sent = bytesToSend(text, server.url === null);
    startCall("SendRaw", {
      server_id: server.server_id,
      text: sent,
      headers: Object.fromEntries(headers.filter(([name]) => name.trim())),
      force,
    }).then(
      (call) => setShown(call.call_id),
      (thrown: unknown) => setError(viewOf(thrown)),
    );
  };
  const load = (call: CallView): void => {
    const asked = fetchRequest(call.call_id).then((sent) => parseExactly(sent).value);
    void telling(
      "It was not loaded",
      asked.then((request) => onText(asJsonRpc(call, request))),
    );
  };
  useRunKey(() => isConnected && send(false));
  const parsed = parseJson(text);
  const linesNote = aboutLines(text, server.url === null);
  return (
    <div className="stack">
      <h2 className="title">Raw JSON-RPC</h2>
      <span className="dim">
        Sends any message as typed, valid or not. The answer and what it caused are in Traffic too.
      </span>
      {takesHeaders(server) && (
        <Pairs
          label="Headers of this request"
          noun="header"
          value={headers}
          onChange={setHeaders}
        />
      )}
      <CodeEditor label="Message to send" value={text} onChange={onText} height={220} />
      {!parsed.ok && (
        <Callout tone="info">
          This is not JSON. It is sent all the same, so that you can see what the server makes of
          it.
        </Callout>
      )}
      {error && (
        <ErrorNote
          error={error}
          title="It was not sent"
          action={
            isJudged(error) && (
              <Button size="compact-xs" variant="default" onClick={() => send(true)}>
                Send anyway
              </Button>
            )
          }
        />
      )}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        {linesNote && <span className="dim grow">{linesNote}</span>}
        <Menu>
          <Menu.Target>
            <Button
              variant="default"
              rightSection={<Icon name="down" size={12} />}
              disabled={!calls.length}
            >
              Load from history
            </Button>
          </Menu.Target>
          <Menu.Dropdown style={{ maxHeight: 360, overflow: "auto" }}>
            {calls.slice(0, 30).map((call) => (
              <Menu.Item key={call.call_id} onClick={() => load(call)}>
                <span className="mono">{clock(call.started, false)}</span> {call.method}{" "}
                {cut(call.name, 40)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Tooltip label="Ctrl Enter">
          <Button disabled={!isConnected} onClick={() => send(false)}>
            Send
          </Button>
        </Tooltip>
      </div>
      {current && (
        <section className="card" style={{ padding: 0, minHeight: 180 }}>
          <CallPanel key={current.call_id} call={current} onRepeated={setShown} />
        </section>
      )}
      <History calls={raw} onChoose={(call) => setShown(call.call_id)} onLoad={load} />
    </div>
  );
}
