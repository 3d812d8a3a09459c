// The server page: info, roots, experimental features and raw tester.
import { Button, Select, Tabs, Tooltip } from "@mantine/core";
import { Link, Navigate, useLocation, useNavigate, useParams } from "react-router";
import type { ServerView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { JsonTree } from "../../components/JsonTree";
import { isWebLink, Markdown } from "../../components/Markdown";
import { ServerIcon } from "../../components/ServerIcon";
import { StateDot } from "../../components/StateDot";
import { UntrustedText } from "../../components/UntrustedText";
import { useNow } from "../../components/useNow";
import { profileOption } from "../../questions/profiles";
import { toggleConnection } from "../../servers/connectionActions";
import { NotConnected } from "../../servers/NotConnected";
import { TrustCertificateButton } from "../../servers/TrustCertificateButton";
import { command } from "../../state/commands";
import { notOffered } from "../../state/lists";
import { isServerPart, nearestPath, pathToServer, serverName } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { withoutAnsi } from "../../values/ansi";
import { formatDateTime, formatDuration, pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { displayState, stateLabel } from "../../values/serverState";
import { DeclaredCapabilities, UnsavedSettingsNotice } from "./DeclaredCapabilities";
import { Experimental } from "./experimental/Experimental";
import { Roots } from "./Roots";
import { StatisticsSection } from "./ServerStatistics";

/** Requests that have not ended; empty if there are none. */
// As high as what most servers declare: a tree that scrolls by itself hides its end.
const TREE_PX = 720;

const requestsNow = ({ queue: { in_progress, pending } }: ServerView): string =>
  [in_progress > 0 && `${in_progress} in flight`, pending > 0 && `${pending} waiting`]
    .filter(Boolean)
    .join(", ");

function Facts({ server }: { server: ServerView }) {
  const now = useNow(server.state === "CONNECTED");
  const info = server.server_info;
  const website = typeof info.websiteUrl === "string" ? info.websiteUrl : null;
  const facts: [string, React.ReactNode][] = [
    ["Calls itself", visible([info.title, info.name].filter(Boolean).map(String).join(" · "))],
    ["Version", info.version === undefined ? "" : visible(String(info.version))],
    [
      "Website",
      website && isWebLink(website) ? (
        <a key="site" href={website} target="_blank" rel="noreferrer noopener">
          {website}
        </a>
      ) : (
        website
      ),
    ],
    ["Revision", server.protocol_version],
    ["Transport", server.transport],
    [
      server.url ? "URL" : "Command",
      <span key="shown" className="mono">
        {server.shown}
      </span>,
    ],
    ["Working folder", server.cwd],
    ["Environment", server.env_names.join(", ")],
    ["Headers", server.header_names.join(", ")],
    [
      "From the command line",
      server.flags.length > 0 && (
        <span key="flags" className="mono">
          {server.flags.join(", ")}
        </span>
      ),
    ],
    ["Latency", server.latency_s === null ? "" : formatDuration(server.latency_s)],
    [
      server.state === "CONNECTED" ? "Connected for" : "Since",
      server.state === "CONNECTED"
        ? formatDuration(Math.max(0, now - server.since))
        : formatDateTime(server.since),
    ],
    ["Requests now", requestsNow(server)],
    ["From", server.source.path || server.source.kind],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

// Value for "no profile": a select needs a string.
const PERSON = "";

/** Selects who answers the server's questions. */
function ProfileSelect({ server }: { server: ServerView }) {
  const profiles = useInspector((state) => state.profiles);
  const names = profiles.map((one) => ({
    value: one.name,
    label: one.problem ? `${one.name} (${one.problem})` : one.name,
    disabled: one.problem !== null,
  }));
  const isKnown = server.profile === null || profiles.some((one) => one.name === server.profile);
  const gone = isKnown ? [] : [{ value: server.profile ?? "", label: `${server.profile} (gone)` }];
  return (
    <Select
      label="Who answers its questions"
      description="A testing profile, or you"
      allowDeselect={false}
      maw={380}
      data={[{ value: PERSON, label: "You do" }, ...names, ...gone]}
      renderOption={profileOption(profiles)}
      value={server.profile ?? PERSON}
      onChange={(profile) =>
        void withErrorToast(
          "The profile was not set",
          command("SetProfile", { server_id: server.server_id, profile: profile || null }),
        )
      }
    />
  );
}

function Overview({ server }: { server: ServerView }) {
  const error = server.error ?? server.problem;
  const counts = server.lists
    .map((list) => pluralize(list.count, list.kind.replace("_", " ").replace(/s$/, "")))
    .join(", ");
  const missing = server.state === "CONNECTED" ? notOffered(server.capabilities) : [];
  return (
    <div className="stack">
      {error && server.state !== "CONNECTED" && (
        <ErrorNote error={error} action={<TrustCertificateButton server={server} />} />
      )}
      <Facts server={server} />
      <StatisticsSection server={server} />
      {server.remarks.map((remark) => (
        <p key={remark} className="dim" style={{ margin: 0 }}>
          {remark}
        </p>
      ))}
      {server.instructions && (
        <section className="stack tight">
          <h2 className="section-title">Instructions</h2>
          <Markdown text={server.instructions} label="Instructions" />
        </section>
      )}
      {server.state === "CONNECTED" && (
        <section className="stack tight">
          <h2 className="section-title">What the server can do{counts ? ` (${counts})` : ""}</h2>
          {missing.length > 0 && (
            <p className="dim">
              This server declares no {missing.join(", ")}, so the bar has no tab for them.
            </p>
          )}
          <JsonTree
            value={server.capabilities}
            label="Capabilities of the server"
            most={TREE_PX}
            withSearch={false}
          />
        </section>
      )}
      <section className="stack" style={{ maxWidth: 980 }} aria-label="What it may ask of us">
        <h2 className="section-title">What it may ask of us</h2>
        <UnsavedSettingsNotice server={server} />
        <ProfileSelect server={server} />
        <DeclaredCapabilities server={server} />
      </section>
      {server.declared_capabilities && (
        <section className="stack tight">
          <h2 className="section-title">What we declared when it was connected</h2>
          <JsonTree
            value={server.declared_capabilities}
            label="Capabilities of the client"
            most={TREE_PX}
            withSearch={false}
          />
        </section>
      )}
      {Object.keys(server.channel).length > 0 && (
        <section className="stack tight">
          <h2 className="section-title">Connection</h2>
          <JsonTree value={server.channel} label="Connection" most={TREE_PX} withSearch={false} />
        </section>
      )}
      {server.stderr_tail.length > 0 && (
        <section className="stack tight">
          <h2 className="section-title">Last lines of stderr</h2>
          <pre className="block">{withoutAnsi(server.stderr_tail.join("\n"))}</pre>
        </section>
      )}
    </div>
  );
}

/** Why a server cannot be edited; null if it can. */
function whyNoEdit({ is_editable, source }: ServerView): string | null {
  if (is_editable) return null;
  return source.kind === "built-in"
    ? "This server is built in. A duplicate of it can be edited."
    : `From ${source.path || source.kind}. A duplicate of it can be edited.`;
}

function EditButton({ server }: { server: ServerView }) {
  const navigate = useNavigate();
  const why = whyNoEdit(server);
  const edit = (): void => void navigate(`/servers?edit=${encodeURIComponent(server.server_id)}`);
  return (
    <Tooltip label={why} disabled={why === null}>
      <Button
        variant="default"
        data-disabled={why !== null || undefined}
        aria-disabled={why !== null}
        onClick={() => why === null && edit()}
      >
        Edit
      </Button>
    </Tooltip>
  );
}

export function ServerInfo() {
  const { server: serverId = "", part } = useParams();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const server = useInspector((state) => state.servers.get(serverId));
  if (part !== undefined && !isServerPart(part))
    return <Navigate to={nearestPath(pathname)} replace />;
  if (!server) return <NotConnected server={undefined} icon="servers" />;
  const isOn = server.state === "CONNECTED" || server.state === "CONNECTING";
  return (
    <div className="pane">
      <div className="toolbar">
        <Link to="/servers">All servers</Link>
        <ServerIcon name={serverName(server)} icons={server.server_info.icons} />
        <h1 className="title">
          <UntrustedText>{serverName(server)}</UntrustedText>
        </h1>
        <StateDot state={displayState(server)} />
        <span>{stateLabel(server)}</span>
        <div className="actions">
          <EditButton server={server} />
          <Button variant="default" onClick={() => toggleConnection(server)}>
            {isOn ? "Disconnect" : "Connect"}
          </Button>
        </div>
      </div>
      <Tabs
        value={part ?? "info"}
        onChange={(next) =>
          void navigate(
            next === "roots" || next === "experimental"
              ? pathToServer(serverId, next)
              : pathToServer(serverId),
          )
        }
        keepMounted={false}
        className="pane"
      >
        <Tabs.List pt="xs">
          <Tabs.Tab value="info">Info</Tabs.Tab>
          <Tabs.Tab value="roots">Roots</Tabs.Tab>
          <Tabs.Tab value="experimental">Experimental and raw JSON-RPC</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="info" className="scroll pad">
          <Overview server={server} />
        </Tabs.Panel>
        <Tabs.Panel value="roots" className="scroll pad">
          <div className="stack" style={{ maxWidth: 800 }}>
            <UnsavedSettingsNotice server={server} />
            <Roots server={server} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="experimental" className="scroll pad">
          <div className="stack">
            <UnsavedSettingsNotice server={server} />
            <Experimental server={server} />
          </div>
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
