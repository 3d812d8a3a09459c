// The servers behind the gateway: their states, what they publish, how often they are called.
import { Link } from "react-router";
import type { GatewayServerView } from "../../api/types";
import { StateDot } from "../../components/StateDot";
import { UntrustedText } from "../../components/UntrustedText";
import { useNow } from "../../components/useNow";
import { pathToServer } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { formatDuration } from "../../values/format";
import { displayState, stateLabel } from "../../values/serverState";
import css from "./Gateway.module.css";
import { Cell, Heads, Section } from "./Section";

const NUMBERS = ["Tools", "Prompts", "Resources", "Calls", "Failed"];

/** Where a server runs that may run on one replica only. */
function place({ singleton }: GatewayServerView): string | null {
  if (singleton === null) return null;
  if (singleton.is_here) return "Runs once: on this replica";
  if (singleton.replica !== null) return `Runs once: on ${singleton.replica}`;
  return "Runs once: no replica has its lease yet";
}

/** What a gateway adds to the state of a server. */
function note(server: GatewayServerView, now: number): string | null {
  if (server.is_loop) return "Refused: it leads back to this gateway";
  if (server.is_paused && server.retry_at !== null)
    return `Paused, since it keeps failing; next attempt in ${formatDuration(Math.max(0, server.retry_at - now))}`;
  if (server.status === "RUNNING") return server.is_stale ? "Lists are not up to date" : null;
  return server.error;
}

function State({ server }: { server: GatewayServerView }) {
  const view = useInspector((state) => state.servers.get(server.server_id));
  const now = useNow(server.is_paused);
  // Why it is paused: another replica may have seen it.
  const cause = server.is_paused ? server.error : null;
  const lines = [note(server, now), cause, place(server)].filter((line) => line !== null);
  return (
    <>
      {view && (
        <span className="row">
          <StateDot state={displayState(view)} />
          {stateLabel(view)}
        </span>
      )}
      {lines.map((line) => (
        <div key={line} className={`dim ${css.cause}`}>
          <UntrustedText>{line}</UntrustedText>
        </div>
      ))}
    </>
  );
}

function Row({ server }: { server: GatewayServerView }) {
  const numbers: [string, number][] = [
    ["Tools", server.tools],
    ["Prompts", server.prompts],
    ["Resources", server.resources],
    ["Calls", server.calls],
    ["Failed", server.failed],
  ];
  return (
    <tr>
      <Cell label="Server">
        <Link to={pathToServer(server.server_id)}>
          <UntrustedText>{server.server_id}</UntrustedText>
        </Link>
      </Cell>
      <Cell label="State">
        <State server={server} />
      </Cell>
      {numbers.map(([name, number]) => (
        <Cell key={name} label={name} isNumber>
          <span className={name === "Failed" && number ? "bad" : ""}>
            {number.toLocaleString("en")}
          </span>
        </Cell>
      ))}
    </tr>
  );
}

export function Servers({ servers }: { servers: GatewayServerView[] }) {
  return (
    <Section title="Servers">
      {servers.length === 0 ? (
        <p className="dim">
          No server is enabled. <Link to="/servers">Add one</Link>.
        </p>
      ) : (
        <table className="plain stacking">
          <Heads names={["Server", "State", ...NUMBERS]} numbers={NUMBERS} />
          <tbody>
            {servers.map((server) => (
              <Row key={server.server_id} server={server} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
