// Card of one server: facts, state and actions.
import { ActionIcon, Badge, Button, Menu, Switch, Tooltip } from "@mantine/core";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import type { ServerView } from "../../api/types";
import { copyText } from "../../components/clipboard";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { ServerIcon } from "../../components/ServerIcon";
import { StateDot } from "../../components/StateDot";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { ConnectOutput, ConnectProgress, isConnecting } from "../../servers/ConnectProgress";
import {
  reconnect,
  restart,
  restartLabel,
  toggleConnection,
} from "../../servers/connectionActions";
import { DiagnosisButton } from "../../servers/DiagnosisButton";
import { askToRemove } from "../../servers/removeServer";
import { SignInLink, SignInStepsLink } from "../../servers/SignInLink";
import { TrustCertificateButton } from "../../servers/TrustCertificateButton";
import { pathTo, pathToServer, serverName } from "../../state/navigation";
import { withErrorToast } from "../../state/toasts";
import { withoutAnsi } from "../../values/ansi";
import { formatDuration, formatTime, pluralize } from "../../values/format";
import {
  displayState,
  exitText,
  failureTitle,
  isRetrying,
  retryLabel,
  stateLabel,
} from "../../values/serverState";
import { CopyServer } from "./CopyServer";
import css from "./ServerCard.module.css";
import { StatisticsLine } from "./ServerStatistics";

function More({ server, onEdit }: { server: ServerView; onEdit(copy: boolean): void }) {
  const [isCopying, setCopying] = useState(false);
  const place = server.source.path || server.source.kind;
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon aria-label={`More for ${serverName(server)}`}>
            <Icon name="down" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!server.is_editable && (
            <Menu.Label style={{ overflowWrap: "anywhere" }}>
              {server.source.kind === "built-in" ? "This server is built in." : `From ${place}`}
            </Menu.Label>
          )}
          <Menu.Item
            leftSection={<Icon name="refresh" size={14} />}
            onClick={() => restart(server)}
          >
            {restartLabel(server)}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="duplicate" size={14} />} onClick={() => onEdit(true)}>
            Duplicate
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="copy" size={14} />} onClick={() => setCopying(true)}>
            Copy as…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isCopying && <CopyServer server={server} onClose={() => setCopying(false)} />}
    </>
  );
}

/** What the server calls itself, if that is not its configured name. */
function OwnTitle({ server }: { server: ServerView }) {
  const { title, name } = server.server_info;
  const own = title || name;
  if (typeof own !== "string" || own === serverName(server)) return null;
  return (
    <Tooltip label="What the server calls itself">
      <span className={`dim ${css.own}`}>
        <UntrustedText>{own}</UntrustedText>
      </span>
    </Tooltip>
  );
}

/** Number of attempts; stays visible after the last one. */
function attemptsOf({ retry, error }: ServerView): string | undefined {
  if (retry && retry.count > 0) return `Retry attempt ${retryLabel(retry)}`;
  const attempts = error?.details.attempts;
  return typeof attempts === "number"
    ? `Gave up after ${pluralize(attempts, "attempt")}`
    : undefined;
}

function Failure({ server }: { server: ServerView }) {
  const error = server.error ?? server.problem;
  if (!error || server.state === "CONNECTED") return null;
  const state = displayState(server);
  const isOver = (state === "ERROR" && !isRetrying(server)) || state === "SIGN_IN";
  return (
    <ErrorNote
      error={error}
      isCard
      title={failureTitle(server)}
      tone={state === "SIGN_IN" ? "wait" : "bad"}
      note={attemptsOf(server)}
      action={
        <>
          {isOver && (
            <Button
              size="compact-xs"
              variant={state === "SIGN_IN" ? "filled" : "default"}
              onClick={() => toggleConnection(server)}
            >
              {state === "SIGN_IN" ? "Sign in" : "Try again"}
            </Button>
          )}
          {isOver && state !== "SIGN_IN" && <DiagnosisButton server={server} />}
          {state === "SIGN_IN" && <SignInStepsLink server={server} />}
          <TrustCertificateButton server={server} />
        </>
      }
    />
  );
}

function Outdated({ server }: { server: ServerView }) {
  const { isBusy, run } = useBusy();
  if (!server.is_outdated) return null;
  const again = (): void => run(() => withErrorToast("Could not connect again", reconnect(server)));
  return (
    <div className={css.waiting} role="status">
      <span className="grow">Changed since it was connected.</span>
      <Button size="compact-xs" variant="default" loading={isBusy} onClick={again}>
        Connect again
      </Button>
    </div>
  );
}

function Exit({ server }: { server: ServerView }) {
  const { exit } = server;
  if (!exit || server.state === "CONNECTED") return null;
  return (
    <div className="stack tight">
      <span className="dim">
        Process {exit.pid} {exitText(exit)} at {formatTime(exit.at, false)}
      </span>
      {server.stderr_tail.length > 0 && (
        <pre className={`block ${css.tail}`}>
          {withoutAnsi(server.stderr_tail.slice(-6).join("\n"))}
        </pre>
      )}
    </div>
  );
}

export function ServerCard({
  server,
  onEdit,
}: {
  server: ServerView;
  onEdit(copy: boolean): void;
}) {
  const navigate = useNavigate();
  const name = serverName(server);
  const isOn = server.state === "CONNECTED" || server.state === "CONNECTING";
  const version =
    typeof server.server_info.version === "string" ? server.server_info.version : null;
  return (
    <article className={css.card} aria-label={name} data-state={displayState(server)}>
      <div className="row">
        <ServerIcon name={name} icons={server.server_info.icons} />
        <div className="grow">
          <h2 className={`cut ${css.name}`}>
            <Link
              to={
                server.state === "CONNECTED"
                  ? pathTo(server.server_id, "tools")
                  : pathToServer(server.server_id)
              }
            >
              <UntrustedText>{name}</UntrustedText>
            </Link>
            <OwnTitle server={server} />
          </h2>
          <div className={`row ${css.state}`}>
            <StateDot state={displayState(server)} />
            <span role="status">{stateLabel(server)}</span>
            {server.state === "CONNECTED" && server.latency_s !== null && (
              <span className="dim">{formatDuration(server.latency_s)}</span>
            )}
          </div>
        </div>
        <Switch
          size="sm"
          aria-label={`Connection to ${name}`}
          checked={isOn}
          disabled={server.state === "DISCONNECTING"}
          onChange={() => toggleConnection(server)}
        />
      </div>
      <div className={`row ${css.target}`}>
        <span className="mono cut-front grow" title={server.shown}>
          <bdi dir="ltr">{server.shown}</bdi>
        </span>
        <Tooltip label="Copy">
          <ActionIcon
            size="sm"
            aria-label={`Copy the command or URL of ${name}`}
            onClick={() => void copyText(server.shown)}
          >
            <Icon name="copy" size={13} />
          </ActionIcon>
        </Tooltip>
      </div>
      {isConnecting(server) && <ConnectProgress server={server} />}
      {server.state === "CONNECTED" && server.auth?.open_url && (
        <div className={css.waiting} role="status">
          <span className="grow">Waiting for a sign-in</span>
          <SignInLink server={server} />
        </div>
      )}
      <ConnectOutput server={server} />
      <Outdated server={server} />
      <Failure server={server} />
      <Exit server={server} />
      <StatisticsLine server={server} />
      <div className={`row ${css.foot}`}>
        <div className={`grow ${css.facts}`}>
          <Badge color="gray">{server.transport ?? "unknown"}</Badge>
          {server.source.kind === "built-in" && <Badge color="gray">bundled example</Badge>}
          {version && <span className="dim cut">v{version}</span>}
          {server.protocol_version && <span className="dim mono">{server.protocol_version}</span>}
          {server.needs_confirmation && <Badge color="yellow">not confirmed yet</Badge>}
        </div>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          className={css.info}
          onClick={() => void navigate(pathToServer(server.server_id))}
        >
          Info
        </Button>
        {server.is_editable && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            className={css.info}
            onClick={() => onEdit(false)}
          >
            Edit
          </Button>
        )}
        {server.is_removable && (
          <Tooltip label="Remove">
            <ActionIcon aria-label={`Remove ${name}`} onClick={() => askToRemove(server)}>
              <Icon name="trash" size={14} />
            </ActionIcon>
          </Tooltip>
        )}
        <More server={server} onEdit={onEdit} />
      </div>
    </article>
  );
}
