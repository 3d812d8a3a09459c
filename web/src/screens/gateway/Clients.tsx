// The clients of the gateway, and how much they call.
import type { GatewayClientView } from "../../api/types";
import { UntrustedText } from "../../components/UntrustedText";
import { formatTime } from "../../values/format";
import { Cell, Heads, Section } from "./Section";

const NUMBERS = ["In flight", "Calls", "Errors"];

const count = (number: number): string => number.toLocaleString("en");

function Row({ client }: { client: GatewayClientView }) {
  const { name, version, protocol_version, path, client_id, caller, since, last_at } = client;
  return (
    <tr>
      <Cell label="Client">
        <UntrustedText>{version ? `${name} ${version}` : name}</UntrustedText>
      </Cell>
      <Cell label="Caller">{caller && <UntrustedText>{caller}</UntrustedText>}</Cell>
      <Cell label="Revision">
        <span className="mono">{protocol_version}</span>
      </Cell>
      <Cell label="At">
        <span className="mono">{path}</span>
      </Cell>
      <Cell label="Since">
        {client_id === null ? (
          <span title="This revision has no sessions">last call {formatTime(last_at, false)}</span>
        ) : (
          formatTime(since, false)
        )}
      </Cell>
      <Cell label="In flight" isNumber>
        {count(client.in_flight)}
      </Cell>
      <Cell label="Calls" isNumber>
        {count(client.calls)}
      </Cell>
      <Cell label="Errors" isNumber>
        <span className={client.errors ? "bad" : ""}>{count(client.errors)}</span>
      </Cell>
    </tr>
  );
}

export function Clients({ clients }: { clients: GatewayClientView[] }) {
  if (!clients.length)
    return (
      <Section title="Clients">
        <p className="dim">No client has connected yet.</p>
      </Section>
    );
  return (
    <Section title="Clients">
      <table className="plain stacking">
        <Heads
          names={["Client", "Caller", "Revision", "At", "Since", ...NUMBERS]}
          numbers={NUMBERS}
        />
        <tbody>
          {clients.map((client) => (
            <Row
              key={
                client.client_id ??
                `${client.name} ${client.version} ${client.path} ${client.caller}`
              }
              client={client}
            />
          ))}
        </tbody>
      </table>
    </Section>
  );
}
