// One resource: read when it is opened, and again when it changes, if subscribed.
import { ActionIcon, Badge, Switch, Tooltip } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import type { CallView, ErrorView, ServerView } from "../../api/types";
import { CallActions } from "../../calls/CallActions";
import { CallFacts } from "../../calls/CallFacts";
import { CallPanel, callLabel } from "../../calls/CallPanel";
import { isRunning } from "../../calls/callStatus";
import { Definition } from "../../catalog/Definition";
import type { MissingItem } from "../../catalog/NotListed";
import { NotListed } from "../../catalog/NotListed";
import { useItemCalls } from "../../catalog/useItemCalls";
import { useIsKeyboardStep } from "../../catalog/useSelectItem";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { Description } from "../../components/Description";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { UntrustedText } from "../../components/UntrustedText";
import { useRunShortcut } from "../../components/useRunShortcut";
import { Annotations } from "../../content/Content";
import { command, startCall } from "../../state/commands";
import { itemTitle, type Resource } from "../../state/items";
import { pathTo } from "../../state/navigation";
import { errorViewOf, withWaitingToast } from "../../state/toasts";
import { formatBytes, formatTime } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { fieldsOf } from "../../values/jsonObject";
import css from "./Resources.module.css";

// Longer than the interval of a held arrow key.
const REST_MS = 300;

export function Facts({ resource }: { resource: Resource }) {
  const { mimeType, size, annotations } = resource;
  if (!mimeType && size === undefined && annotations === undefined) return null;
  return (
    <div className="row wrap">
      {mimeType && <Badge color="gray">{visible(mimeType)}</Badge>}
      {size !== undefined && <Badge color="gray">{formatBytes(size)}</Badge>}
      <Annotations value={annotations} />
    </div>
  );
}

/** Reads the resource when it is opened, and when the last result is outdated. */
function useAutoRead(
  server: ServerView,
  uri: string,
  newest: CallView | null,
  read: () => Promise<void>,
) {
  const followed = server.subscriptions.find((one) => one.uri === uri);
  const isConnected = server.state === "CONNECTED";
  const isStep = useIsKeyboardStep();
  // Changes without a connection were not notified.
  const changed = followed ? Math.max(followed.updated ?? 0, server.since) : 0;
  const isOld = newest === null || (!isRunning(newest) && newest.started < changed);
  const isAsking = useRef(false);
  const asked = useRef(0); // the last change that was read: clocks may be set back
  // biome-ignore lint/correctness/useExhaustiveDependencies: reads when it is old, once for each change
  useEffect(() => {
    const isNews = newest === null || changed > asked.current;
    if (!isConnected || !isOld || !isNews || isAsking.current) return;
    const ask = async (): Promise<void> => {
      isAsking.current = true;
      asked.current = changed;
      await read();
      isAsking.current = false;
    };
    if (!isStep) return void ask();
    const timer = setTimeout(() => void ask(), REST_MS);
    return () => clearTimeout(timer);
  }, [isConnected, isOld, changed, isStep]);
}

interface SubscribeProps {
  server: ServerView;
  uri: string;
  isOn: boolean;
}

function SubscribeSwitch({ server, uri, isOn }: SubscribeProps) {
  const { server_id, capabilities } = server;
  const canSubscribe = fieldsOf(capabilities.resources).subscribe === true;
  const subscribe = (): void => {
    const kind = isOn ? "Unsubscribe" : "Subscribe";
    const what = `the ${isOn ? "end of the " : ""}subscription to ${uri}`;
    void withWaitingToast(
      what,
      "The subscription was not changed",
      command(kind, { server_id, uri }),
    );
  };
  return (
    <Tooltip
      label={
        canSubscribe
          ? "Read it again whenever the server reports a change"
          : "This server did not declare resources.subscribe"
      }
    >
      <div>
        <Switch
          label="Subscribe"
          checked={isOn}
          disabled={!canSubscribe || server.state !== "CONNECTED"}
          onChange={subscribe}
        />
      </div>
    </Tooltip>
  );
}

function ReadAgain({ isConnected, onRead }: { isConnected: boolean; onRead(): void }) {
  return (
    <Tooltip label={isConnected ? "Read again (Ctrl Enter)" : "The server is not connected"}>
      <ActionIcon
        data-run
        aria-label="Read again"
        aria-disabled={!isConnected}
        data-disabled={!isConnected || undefined}
        onClick={() => isConnected && onRead()}
      >
        <Icon name="refresh" />
      </ActionIcon>
    </Tooltip>
  );
}

function CopiedUri({ uri }: { uri: string }) {
  return (
    <button
      type="button"
      className={`plain mono dim ${css.uri}`}
      onClick={() => void copyText(uri)}
      title="Copy"
    >
      <UntrustedText>{uri}</UntrustedText>
    </button>
  );
}

/** What a result says of a resource that the server does not list. */
function readAs(call: CallView | null): Resource {
  const { contents } = fieldsOf(call?.result);
  const { mimeType } = fieldsOf(Array.isArray(contents) ? contents[0] : null);
  return { annotations: undefined, ...(typeof mimeType === "string" && { mimeType }) } as Resource;
}

interface Props {
  server: ServerView;
  uri: string;
  /** Unique key among items of the same URI. */
  itemKey: string;
  resource: Resource | null;
  /** The definition as the server sent it; undefined if it is not in the list. */
  listed?: unknown;
  missing?: MissingItem | null;
  problem: string | null;
  /** Shown beside its template, which has the shortcuts and the back link. */
  isBeside?: boolean;
}

export function ResourcePanel(props: Props) {
  const { server, uri, itemKey, resource, listed, problem } = props;
  const { missing = null, isBeside = false } = props;
  const { server_id } = server;
  const { calls, current, show, showNewest } = useItemCalls(server_id, "resource", itemKey);
  const [error, setError] = useState<ErrorView | null>(null);
  const followed = server.subscriptions.find((one) => one.uri === uri);
  const isConnected = server.state === "CONNECTED";
  const [newest = null, former] = calls;
  const isPinned = useSearchParams()[0].has("call");
  // Keep the previous result while it is read again.
  const isRefreshing = followed && !isPinned && newest && isRunning(newest) && former;
  const shown = isRefreshing ? former : current;
  const read = async (): Promise<void> => {
    setError(null);
    showNewest();
    try {
      await startCall("ReadResource", { server_id, uri, listed_as: itemKey });
    } catch (thrown) {
      setError(errorViewOf(thrown));
    }
  };
  useAutoRead(server, uri, newest, read);
  useRunShortcut(isBeside ? null : () => isConnected && void read());
  const choice = useMemo(() => ({ calls, onChoose: show }), [calls, show]);
  return (
    <section className="pane" aria-label={shown ? callLabel(shown) : `Resource ${uri}`}>
      {!isBeside && (
        <Link to={pathTo(server_id, "resources")} className={`narrow-only ${css.back}`}>
          All resources
        </Link>
      )}
      <div className="toolbar">
        <h2 className="title">
          <UntrustedText>{resource ? itemTitle(resource, uri) : uri}</UntrustedText>
        </h2>
        {shown && <CallFacts call={shown} choice={choice} />}
        <div className="actions">
          {/* On a phone each group is a row. */}
          <div className="row">
            <SubscribeSwitch server={server} uri={uri} isOn={followed !== undefined} />
            <ReadAgain isConnected={isConnected} onRead={() => void read()} />
          </div>
          {shown && (
            <div className="row">
              <CallActions call={shown} />
            </div>
          )}
        </div>
      </div>
      <div className={css.about}>
        <div className={css.line}>
          {resource && itemTitle(resource, uri) !== uri && <CopiedUri uri={uri} />}
          <Facts resource={resource ?? readAs(shown)} />
          {followed && !followed.error && (
            <span className="dim" role="status">
              {followed.updated ? `Updated ${formatTime(followed.updated, false)}` : "Subscribed"}
            </span>
          )}
          <Definition listed={listed} />
        </div>
        {resource?.description && <Description text={resource.description} isBrief />}
        <NotListed missing={missing} />
        {problem && (
          <Callout>
            The definition of this resource is broken: {problem} You can still read it.
          </Callout>
        )}
        {followed?.error && (
          <ErrorNote
            error={followed.error}
            title="The subscription is not active on this connection"
          />
        )}
        {error && <ErrorNote error={error} />}
      </div>
      <div className="grow" style={{ minHeight: 0 }}>
        {shown ? (
          <CallPanel call={shown} onRepeated={show} isHeadless />
        ) : (
          <EmptyState icon="resources" title={isConnected ? "Reading" : "Not read"}>
            {isConnected ? "Waiting for the server." : "Connect the server to read it."}
          </EmptyState>
        )}
      </div>
    </section>
  );
}
