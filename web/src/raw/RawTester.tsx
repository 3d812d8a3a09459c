// The raw tester: sends typed text byte for byte, and shows the reply.
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { fetchEvent, fetchRequest } from "../api/http";
import type { CallView, EventView, ServerView } from "../api/types";
import { useShownMessage } from "../calls/CallActions";
import { CallPanel } from "../calls/CallPanel";
import { asJsonRpc } from "../calls/copyAs";
import { RunKeys } from "../catalog/FormFooter";
import { ButtonWithReason } from "../components/ButtonWithReason";
import { Callout } from "../components/Callout";
import { CodeEditor } from "../components/CodeEditor";
import { EmptyState } from "../components/EmptyState";
import { ErrorNote } from "../components/ErrorNote";
import { Icon } from "../components/Icon";
import { KeyValueFields } from "../components/KeyValueFields";
import { useRunShortcut } from "../components/useRunShortcut";
import { lastPath, withoutLink } from "../state/lastVisited";
import { pathTo, useOrigin } from "../state/navigation";
import { lacksEnvelope, takesHeaders, withEnvelope } from "../state/protocol";
import { exampleMessages, type RawDraft, restoreHeaders } from "../state/rawDraft";
import { withErrorToast } from "../state/toasts";
import { maskedKeys } from "../state/wholeEvent";
import { parseExactly, tryParseExactly } from "../values/exactJson";
import { parseJson, pretty } from "../values/json";
import { fieldsOf } from "../values/jsonObject";
import { ExampleMenu, LoadMenu, RawHistory } from "./RawHistory";
import css from "./RawTester.module.css";
import { isRefusedRequest, lineBreakNote, useRawCalls, useRawRequest } from "./rawRequests";

interface Props {
  server: ServerView;
  message: RawDraft;
  /** Whether it is all that the screen shows, and not a part of the server's page. */
  isScreen?: boolean;
}

/** Offers to restore the typed message that was replaced. */
function StashNotice({ message }: { message: RawDraft }) {
  if (!message.aside) return null;
  return (
    <Callout tone="info">
      <div className="row wrap">
        <span className="grow">The message that you had typed was set aside.</span>
        <Button variant="default" onClick={message.bringBack}>
          Restore it
        </Button>
      </div>
    </Callout>
  );
}

/** Loads an earlier request into the editor; `missing` names its masked values. */
function useLoading(server: ServerView, message: RawDraft) {
  const [missing, setMissing] = useState<{ text: string; keys: string[] } | null>(null);
  const load = async (call: CallView): Promise<void> => {
    const request = parseExactly(await fetchRequest(call.call_id)).value;
    message.place(asJsonRpc(call, request, server), restoreHeaders(call.headers, message.headers));
  };
  const loadEvent = async ({ run_id, seq }: EventView): Promise<void> => {
    const { text, text_is_cut, masked } = await fetchEvent(run_id, seq);
    if (text === null || text_is_cut) throw new Error("The message is too large, or not text.");
    message.place(text);
    setMissing({ text, keys: maskedKeys(masked) });
  };
  return {
    load: (call: CallView) => void withErrorToast("The message could not be loaded", load(call)),
    loadEvent: (event: EventView) =>
      void withErrorToast("The message could not be loaded", loadEvent(event)),
    missing: missing?.text === message.text ? missing.keys : [],
  };
}

/** Notes about the message before it is sent. */
function Remarks({ text, missing }: { text: string; missing: string[] }) {
  return (
    <>
      {missing.length > 0 && (
        <Callout tone="info">
          mcplens masked the value of {missing.join(", ")}. Replace the stars before you send.
        </Callout>
      )}
      {!parseJson(text).ok && (
        <Callout tone="info">
          This is not JSON. It is sent anyway, so that you can see how the server reacts.
        </Callout>
      )}
    </>
  );
}

/**
 * A server takes a request without these fields for one of a client of an older revision, which has
 * to begin with initialize, whatever this connection has agreed on.
 */
function EnvelopeNote({ server, message }: { server: ServerView; message: RawDraft }) {
  const parsed = tryParseExactly(message.text);
  if (!parsed.ok || !lacksEnvelope(parsed.value, server)) return null;
  const request = fieldsOf(parsed.value);
  const params = withEnvelope(request.params ?? {}, server, "mcplens");
  return (
    <Callout>
      <div className="row wrap">
        <span className="grow">
          This request does not name its revision. Those of {server.protocol_version} do, in{" "}
          <code>params._meta</code>; the server may take it for an older one and refuse it.
        </span>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => message.setText(pretty({ ...request, params }))}
        >
          Add the revision
        </Button>
      </div>
    </Callout>
  );
}

/**
 * Leads to Traffic: to the message whose reply is shown, else to where the tester was opened from, or
 * as it was last visited.
 */
function TrafficButton({ serverId, shown }: { serverId: string; shown: CallView | undefined }) {
  const origin = useOrigin();
  const last = lastPath(serverId, "traffic");
  const before = origin === null ? last : withoutLink(origin);
  const seq = useShownMessage(shown);
  const [to, label] = shown
    ? [pathTo(serverId, "traffic", seq), "Show in Traffic"]
    : [before ?? pathTo(serverId, "traffic"), before ? "Back to Traffic" : "Show Traffic"];
  return (
    <Button
      component={Link}
      to={to}
      variant="default"
      leftSection={<Icon name="traffic" size={13} />}
    >
      {label}
    </Button>
  );
}

export function RawTester({ server, message, isScreen = false }: Props) {
  const { server_id, url } = server;
  const { calls, raw, current, show } = useRawCalls(server_id);
  const { error, send } = useRawRequest(server, message, show);
  const { load, loadEvent, missing } = useLoading(server, message);
  const isConnected = server.state === "CONNECTED";
  useRunShortcut(() => isConnected && send(false));
  const linesNote = lineBreakNote(message.text, url === null);
  const Heading = isScreen ? "h1" : "h2";
  return (
    <div className="stack">
      <StashNotice message={message} />
      <div className="row wrap">
        <Heading className="title">Raw message</Heading>
        <span className="dim">
          Sends any message, valid or not. The answer and what it caused are in Traffic too.
        </span>
        <TrafficButton serverId={server_id} shown={current} />
      </div>
      <div className={css.sides}>
        <div className="stack">
          {takesHeaders(server) && (
            <KeyValueFields
              label="Headers of this request"
              noun="header"
              value={message.headers}
              onChange={message.setHeaders}
            />
          )}
          <CodeEditor
            label="Message to send"
            value={message.text}
            onChange={message.setText}
            height="clamp(320px, 100dvh - 420px, 720px)"
          />
          <Remarks text={message.text} missing={missing} />
          {error && (
            <ErrorNote
              error={error}
              title="The message was not sent"
              action={
                isRefusedRequest(error) && (
                  <Button size="compact-xs" variant="default" onClick={() => send(true)}>
                    Send anyway
                  </Button>
                )
              }
            />
          )}
          <div className={`row wrap ${css.buttons}`}>
            <ExampleMenu examples={exampleMessages(server, raw.length)} onChoose={message.place} />
            <LoadMenu serverId={server_id} calls={calls} onCall={load} onEvent={loadEvent} />
            <ButtonWithReason
              disabledReason={isConnected ? null : "The server is not connected"}
              onClick={() => send(false)}
            >
              Send
              <RunKeys />
            </ButtonWithReason>
          </div>
          {/* Below the buttons: it comes and goes as one types, and they stay. */}
          {linesNote && <span className="dim">{linesNote}</span>}
          <EnvelopeNote server={server} message={message} />
        </div>
        <section className={css.reply} aria-label="Reply">
          {current ? (
            <CallPanel key={current.call_id} call={current} onRepeated={show} />
          ) : (
            <EmptyState icon="traffic" title="No reply yet">
              Send the message, and its answer appears here.
            </EmptyState>
          )}
        </section>
        <div className={css.sent}>
          <RawHistory
            calls={raw}
            shown={current}
            onChoose={(call) => show(call.call_id)}
            onLoad={load}
          />
        </div>
      </div>
    </div>
  );
}
