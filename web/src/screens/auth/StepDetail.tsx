// What one step of a sign-in expected, what came, and the HTTP exchanges that carried it.
import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { SignInStepView } from "../../api/types";
import { HttpExchange } from "../../events/HttpExchange";
import { useExchange } from "../../events/useExchange";
import { pathTo } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { visible } from "../../values/hiddenCharacters";
import css from "./Auth.module.css";
import { CLIENT_ID_FIELD } from "./SignInForms";

/** Names of the facts that steps tell. */
const FACTS: Record<string, string> = {
  resource: "Resource",
  authorizationServers: "Authorization servers",
  issuer: "Issuer",
  metadata: "Metadata",
  clientId: "Client ID",
  redirectUri: "Redirect URI",
  scopes: "Scopes",
};

const wordsOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(" ") || "none" : String(value);

function Exchange({ serverId, exchangeId }: { serverId: string; exchangeId: number }) {
  const run_id = useInspector((state) => state.run_id) ?? "";
  const { parts, isLoading } = useExchange({ run_id, exchange_id: exchangeId });
  const first = parts[0];
  if (!first)
    return <p className="dim">{isLoading ? "Loading…" : "The exchange is not recorded."}</p>;
  return (
    <div className={`stack ${css.exchange}`}>
      <HttpExchange event={first} />
      <Link to={pathTo(serverId, "traffic", first.seq)}>Show in Traffic</Link>
    </div>
  );
}

const focusClientId = (): void => document.getElementById(CLIENT_ID_FIELD)?.focus();

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

interface Props {
  serverId: string;
  step: SignInStepView;
  hint: string | null;
  canEnterClient: boolean;
}

export function StepDetail({ serverId, step, hint, canEnterClient }: Props) {
  const facts = Object.entries(step.facts).filter(([name, value]) => FACTS[name] && value !== null);
  return (
    <div className={`stack ${css.body}`}>
      <dl className="facts">
        {step.expected && (
          <>
            <dt>Expected</dt>
            <dd>{visible(step.expected)}</dd>
          </>
        )}
        {step.text && (
          <>
            <dt>Received</dt>
            <dd className={step.state === "failed" ? "bad" : undefined}>{visible(step.text)}</dd>
          </>
        )}
        {hint && (
          <>
            <dt>What to do</dt>
            <dd>{visible(asSentence(hint))}</dd>
          </>
        )}
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{FACTS[name]}</dt>
            <dd className="mono">{visible(wordsOf(value))}</dd>
          </div>
        ))}
      </dl>
      {canEnterClient && (
        <div className="row">
          <Button size="compact-sm" variant="default" onClick={focusClientId}>
            Enter client ID
          </Button>
        </div>
      )}
      {step.notes.length > 0 && (
        <ul className="mono" style={{ margin: 0, paddingLeft: 18, overflowWrap: "anywhere" }}>
          {step.notes.map((note, index) => (
            <li key={index}>{visible(note)}</li>
          ))}
        </ul>
      )}
      {step.exchange_ids.map((exchangeId) => (
        <Exchange key={exchangeId} serverId={serverId} exchangeId={exchangeId} />
      ))}
    </div>
  );
}
