// The limits of the gateway, and how near they are.
import type { GatewayLimitView } from "../../api/types";
import { UntrustedText } from "../../components/UntrustedText";
import { formatBytes } from "../../values/format";
import css from "./Gateway.module.css";
import { Cell, Heads, Section, SetIn } from "./Section";

const LABELS: Record<string, string> = {
  sessions: "Sessions",
  callsPerClient: "Calls at once of a client",
  callsPerServer: "Calls at once of a server",
  callsPerSecond: "Calls per second of a client",
  callsPerView: "Calls at once of a view",
  callsPerSecondPerView: "Calls per second of a view",
  callsPerSecondPerServer: "Calls per second of a server",
  waitingCalls: "Calls of a client that wait for a server",
  requestBytes: "Size of a request",
};

// Above this share a limit is near.
const NEAR = 0.8;

const shown = ({ name }: GatewayLimitView, value: number): string =>
  name === "requestBytes" ? formatBytes(value) : value.toLocaleString("en");

function Used({ limit }: { limit: GatewayLimitView }) {
  const { used, most, by } = limit;
  if (used === null) return null;
  const isNear = most !== null && used >= most * NEAR;
  return (
    <span className={isNear ? css.near : undefined}>
      {most !== null && (
        <meter className={css.meter} min={0} max={most} value={used} aria-hidden="true" />
      )}
      {shown(limit, used)}
      {used > 0 && by && (
        <span className="dim">
          {" "}
          by <UntrustedText>{by}</UntrustedText>
        </span>
      )}
    </span>
  );
}

/** `isShared`: whether replicas count calls together; null where there is one alone. */
export function Limits({
  limits,
  isShared,
}: {
  limits: GatewayLimitView[];
  isShared: boolean | null;
}) {
  return (
    <Section title="Limits" note={<SetIn setting="gateway" shown="gateway.limits" />}>
      {isShared !== null && (
        <p className="dim">
          {isShared
            ? "Calls are counted over all replicas. In use: by this one."
            : "Each replica counts its own calls while the store cannot be used."}
        </p>
      )}
      <table className="plain stacking">
        <Heads names={["Limit", "In use", "At most", "Set by"]} />
        <tbody>
          {limits.map((limit) => (
            <tr key={limit.name}>
              <Cell label="Limit">{LABELS[limit.name] ?? limit.name}</Cell>
              <Cell label="In use">{limit.used !== null && <Used limit={limit} />}</Cell>
              <Cell label="At most">
                {limit.most === null ? (
                  <span className="dim">no limit</span>
                ) : (
                  shown(limit, limit.most)
                )}
              </Cell>
              <Cell label="Set by">
                {limit.is_set ? (
                  <span className="mono">gateway.limits.{limit.name}</span>
                ) : (
                  <span className="dim">default</span>
                )}
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
