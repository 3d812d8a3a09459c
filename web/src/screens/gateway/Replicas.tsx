// The replicas of the gateway, and the store that they share.
import type { KnownReplica, ReplicaStatus, SharedStore } from "../../api/types";
import { StateDot } from "../../components/StateDot";
import { UntrustedText } from "../../components/UntrustedText";
import { formatTime } from "../../values/format";
import type { DisplayState } from "../../values/serverState";
import css from "./Gateway.module.css";
import { Cell, Heads, Section, SetIn } from "./Section";

const STORE: Record<SharedStore["status"], [DisplayState, string]> = {
  up: ["CONNECTED", "Store reachable"],
  full: ["CONNECTING", "Store full"],
  down: ["ERROR", "Store unreachable"],
};

const STATES: Record<KnownReplica["state"], [DisplayState, string]> = {
  serving: ["CONNECTED", "Serving"],
  leaving: ["DISCONNECTING", "Shutting down"],
  gone: ["ERROR", "Gone"],
};

// Of the parts that differ, so many are named; the log of the gateway has more.
const NAMED = 6;

function Store({ store }: { store: SharedStore }) {
  const [dot, word] = STORE[store.status];
  const isUp = store.status === "up";
  const problem = isUp ? store.last_problem : store.reason;
  return (
    <div>
      <div className={css.fact}>
        <span className="row" role="status">
          <StateDot state={dot} />
          {word} since {formatTime(store.since, false)}
        </span>
        <span className={`mono dim ${css.secret}`}>{store.name}</span>
      </div>
      {problem && (
        <div className={`dim ${css.cause}`}>
          {isUp && store.last_problem_at !== null
            ? `Last problem at ${formatTime(store.last_problem_at, false)}: `
            : ""}
          <UntrustedText>{problem}</UntrustedText>
        </div>
      )}
      {store.status === "down" && (
        <div className={`dim ${css.cause}`}>
          Calls go on; what needs the store fails with an error. The replicas below are as they were
          last seen.
        </div>
      )}
    </div>
  );
}

/** Whether a replica serves the same, and in what it does not. */
function Configuration({ replica }: { replica: KnownReplica }) {
  if (replica.has_same_configuration) return "Same as here";
  const { differs_in } = replica;
  if (!differs_in.length) return <span className={css.differing}>Differs from this one</span>;
  const more = differs_in.length - NAMED;
  return (
    <span className={css.differing}>
      Differs in{" "}
      <span className="mono">
        <UntrustedText>{differs_in.slice(0, NAMED).join(", ")}</UntrustedText>
      </span>
      {more > 0 && ` and ${more} more`}
    </span>
  );
}

function Row({ replica, isHere }: { replica: KnownReplica; isHere: boolean }) {
  const [dot, word] = STATES[replica.state];
  return (
    <tr>
      <Cell label="Replica">
        <UntrustedText>{replica.name}</UntrustedText>
        {isHere && <span className="dim"> this one</span>}
      </Cell>
      <Cell label="State">
        <span className="row">
          <StateDot state={dot} />
          {word} since {formatTime(replica.since, false)}
        </span>
      </Cell>
      <Cell label="Address">
        <span className={`mono ${css.secret}`}>{replica.address}</span>
      </Cell>
      <Cell label="Version">{replica.version}</Cell>
      <Cell label="Configuration">
        {!isHere && replica.state !== "gone" && <Configuration replica={replica} />}
      </Cell>
    </tr>
  );
}

export function Replicas({ status }: { status: ReplicaStatus }) {
  return (
    <Section title="Replicas" note={<SetIn setting="gateway" shown="gateway.replica" />}>
      <Store store={status.store} />
      <table className="plain stacking">
        <Heads names={["Replica", "State", "Address", "Version", "Configuration"]} />
        <tbody>
          <Row replica={status.this} isHere />
          {[...status.others, ...status.gone].map((one) => (
            <Row key={one.id} replica={one} isHere={false} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}
