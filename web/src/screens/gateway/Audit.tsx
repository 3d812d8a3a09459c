// The newest lines of the audit log.
import { Link } from "react-router";
import type { AuditLine } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { UntrustedText } from "../../components/UntrustedText";
import { useNow } from "../../components/useNow";
import { command } from "../../state/commands";
import { useInspector } from "../../state/store";
import {
  formatBytes,
  formatDateTime,
  formatDuration,
  formatTime,
  isToday,
} from "../../values/format";
import { Cell, Heads, Section } from "./Section";
import { useReply } from "./useReply";

const COUNT = 20;
// What an operator approved is not a failure, although it stands with its reason.
const WELL = ["ok", "approved"];
const NUMBERS = ["Time taken", "Size"];
// The log is read again at most so often, and only after calls.
const EVERY_MS = 2000;

function Row({ line, isOfToday }: { line: AuditLine; isOfToday: boolean }) {
  const run_id = useInspector((state) => state.run_id);
  const { name, method, path, reason } = line;
  // A request that access control refused has no message.
  const about = line.seq === 0 ? path : name;
  const who =
    line.client && line.caller ? `${line.client} (${line.caller})` : line.client || line.caller;
  const what = about === null ? method : `${method} ${about}`;
  return (
    <tr>
      <Cell label="When">
        {isOfToday ? formatTime(line.time, false) : formatDateTime(line.time)}
      </Cell>
      <Cell label="Client">{who && <UntrustedText>{who}</UntrustedText>}</Cell>
      <Cell label="Request">
        {line.run === run_id && line.seq > 0 ? (
          <Link className="mono" to={`/traffic/${line.seq}`}>
            <UntrustedText>{what}</UntrustedText>
          </Link>
        ) : (
          <span className="mono">
            <UntrustedText>{what}</UntrustedText>
          </span>
        )}
      </Cell>
      <Cell label="Server">{line.server && <UntrustedText>{line.server}</UntrustedText>}</Cell>
      <Cell label="Outcome">
        <span className={WELL.includes(line.outcome) ? "" : "bad"}>
          {reason ? <UntrustedText>{`${line.outcome}: ${reason}`}</UntrustedText> : line.outcome}
        </span>
      </Cell>
      <Cell label="Time taken" isNumber>
        {formatDuration(line.seconds)}
      </Cell>
      <Cell label="Size" isNumber>
        {formatBytes(line.answer_bytes)}
      </Cell>
    </tr>
  );
}

/** `calls` counts the calls so far: more of them are more lines. */
export function Audit({ calls }: { calls: number }) {
  const now = useNow(true, EVERY_MS);
  const { value: audit, error } = useReply(`${calls} ${Math.floor(now / 10)}`, () =>
    command("GatewayAudit", { count: COUNT }),
  );
  if (audit?.path === null) return null;
  return (
    <Section title="Audit log" note={<span className="mono">{audit?.path}</span>}>
      {error && <ErrorNote error={error} title="The audit log cannot be read" />}
      {audit?.problem && <p className="bad">{audit.problem}</p>}
      {audit && audit.lines.length === 0 && <p className="dim">No request yet.</p>}
      {audit && audit.lines.length > 0 && (
        <table className="plain stacking">
          <Heads
            names={["When", "Client", "Request", "Server", "Outcome", ...NUMBERS]}
            numbers={NUMBERS}
          />
          <tbody>
            {audit.lines.map((line) => (
              <Row
                key={`${line.run} ${line.seq} ${line.time}`}
                line={line}
                isOfToday={isToday(line.time, now)}
              />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
