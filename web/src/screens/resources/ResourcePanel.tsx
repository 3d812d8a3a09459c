// One resource: read when it is opened, and again when it changes, if it is followed.
import { Badge, Button, Switch, Tooltip } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { ErrorView, ServerView } from "../../api/types";
import { CallPanel } from "../../calls/CallPanel";
import { Annotations } from "../../calls/Content";
import { Callout } from "../../parts/Callout";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { bytes, clock } from "../../parts/format";
import { Icon } from "../../parts/icons";
import { copy } from "../../parts/text";
import { useRunKey } from "../../parts/useRunKey";
import { telling, viewOf } from "../../state/actions";
import { command, startCall } from "../../state/connection";
import { type Resource, titleOf } from "../../state/items";
import { pathTo } from "../../state/selection";
import { CallChooser } from "../tools/CallChooser";
import { useCallsOf } from "../tools/useToolCalls";

function Facts({ resource }: { resource: Resource }) {
  return (
    <div className="row wrap">
      {resource.mimeType && <Badge color="gray">{resource.mimeType}</Badge>}
      {typeof resource.size === "number" && <Badge color="gray">{bytes(resource.size)}</Badge>}
      <Annotations value={resource.annotations} />
    </div>
  );
}

export function ResourcePanel({
  server,
  uri,
  resource,
  problem,
}: {
  server: ServerView;
  uri: string;
  resource: Resource | null;
  problem: string | null;
}) {
  const { server_id } = server;
  const { calls, current, show, showNewest } = useCallsOf(server_id, "resource", uri);
  const [error, setError] = useState<ErrorView | null>(null);
  const followed = server.subscriptions.find((one) => one.uri === uri);
  const canFollow =
    (server.capabilities.resources as { subscribe?: unknown } | undefined)?.subscribe === true;
  const isConnected = server.state === "CONNECTED";
  const updates = followed?.updates ?? 0;
  const seen = useRef<number | null>(null);
  const read = (): void => {
    setError(null);
    showNewest();
    startCall("ReadResource", { server_id, uri }).catch((thrown: unknown) =>
      setError(viewOf(thrown)),
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: reads at first, and at each update
  useEffect(() => {
    if (!isConnected) return;
    const isNew = seen.current === null ? current === null : seen.current !== updates;
    seen.current = updates;
    if (isNew) read();
  }, [updates, isConnected]);
  useRunKey(() => isConnected && read());
  const follow = (): void => {
    const kind = followed ? "Unsubscribe" : "Subscribe";
    void telling("The subscription was not changed", command(kind, { server_id, uri }));
  };
  return (
    <div className="pane">
      <div className="stack tight" style={{ padding: "12px 16px" }}>
        <Link to={pathTo(server_id, "resources")} className="narrow-only">
          All resources
        </Link>
        <div className="row wrap">
          <h2 className="title grow">{resource ? titleOf(resource, uri) : uri}</h2>
          <Tooltip
            label={
              canFollow
                ? "Read it again whenever the server says that it changed"
                : "This server does not offer subscriptions"
            }
          >
            <div>
              <Switch
                label={
                  followed
                    ? `Following${followed.updated ? `, updated ${clock(followed.updated, false)}` : ""}`
                    : "Follow"
                }
                checked={followed !== undefined}
                disabled={!canFollow || !isConnected}
                onChange={follow}
              />
            </div>
          </Tooltip>
          <Button
            variant="default"
            leftSection={<Icon name="refresh" size={13} />}
            disabled={!isConnected}
            onClick={read}
          >
            Read again
          </Button>
        </div>
        <button
          type="button"
          className="plain mono dim"
          onClick={() => void copy(uri)}
          title="Copy"
          style={{ overflowWrap: "anywhere" }}
        >
          {uri}
        </button>
        {resource?.description && <span>{resource.description}</span>}
        {resource && <Facts resource={resource} />}
        {problem && (
          <Callout>The definition of this resource is broken: {problem} It can be read.</Callout>
        )}
        {followed?.error && (
          <ErrorNote error={followed.error} title="It could not be read again when it changed" />
        )}
        {error && <ErrorNote error={error} />}
      </div>
      <CallChooser calls={calls} current={current} onChoose={show} />
      <div className="grow" style={{ minHeight: 0 }}>
        {current ? (
          <CallPanel call={current} onRepeated={show} />
        ) : (
          <Empty icon="resources" title={isConnected ? "Reading" : "Not read"}>
            {isConnected ? "Waiting for the server." : "Connect the server to read it."}
          </Empty>
        )}
      </div>
    </div>
  );
}
