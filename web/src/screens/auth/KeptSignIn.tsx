// The sign-in that is kept: who, for what, until when; its tokens, masked until asked for.
import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { KeptSignInView, TokenView } from "../../api/types";
import { copyText } from "../../components/clipboard";
import { JsonTree } from "../../components/JsonTree";
import { useNow } from "../../components/useNow";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { formatDateTime, formatDuration } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";

function Expiry({ kept }: { kept: KeptSignInView }) {
  const { expires_at, refresh_token } = kept;
  const now = useNow(expires_at !== null);
  const then = refresh_token ? "renewed by itself" : "then sign in again";
  if (expires_at === null) return <>not told{refresh_token && `; ${then}`}</>;
  const left = Math.floor(expires_at - now);
  return (
    <span role="timer" title={formatDateTime(expires_at)}>
      {left > 0 ? `in ${formatDuration(left)}; ${then}` : `expired; ${then}`}
    </span>
  );
}

function Scopes({ kept }: { kept: KeptSignInView }) {
  const { requested, granted } = kept;
  const missing = requested.filter((scope) => !granted.includes(scope));
  return (
    <>
      <span className="mono">{visible(granted.join(" ")) || "none"}</span>
      {missing.length > 0 && (
        <span className="bad"> · not granted: {visible(missing.join(" "))}</span>
      )}
    </>
  );
}

type Step = { is: "masked" | "asking" } | { is: "shown"; token: TokenView };

function SmallButton({ children, onClick }: { children: string; onClick(): void }) {
  return (
    <Button size="compact-xs" variant="default" onClick={onClick}>
      {children}
    </Button>
  );
}

function Decoded({ token }: { token: TokenView }) {
  if (!token.claims)
    return <span className="dim">The token is opaque: it says nothing that can be decoded.</span>;
  return (
    <>
      <span className="dim">What the token says. Its signature is not verified.</span>
      {token.header && <JsonTree label="Header of the token" value={token.header} most={160} />}
      <JsonTree label="Claims of the token" value={token.claims} most={320} />
    </>
  );
}

function Tokens({ serverId, kept }: { serverId: string; kept: KeptSignInView }) {
  const [step, setStep] = useState<Step>({ is: "masked" });
  const [decoded, setDecoded] = useState<TokenView | null>(null);
  const ask = (is_whole: boolean): Promise<TokenView | null> =>
    withErrorToast(
      "The token was not shown",
      command("RevealToken", { server_id: serverId, is_whole }),
    );
  const reveal = async (): Promise<void> => {
    const token = await ask(true);
    setStep(token ? { is: "shown", token } : { is: "masked" });
  };
  const shown = step.is === "shown" ? step.token : null;
  return (
    <div className="stack">
      <dl className="facts">
        <dt>Access token</dt>
        <dd className="mono">{shown?.token ?? kept.token}</dd>
        {kept.refresh_token && (
          <>
            <dt>Refresh token</dt>
            <dd className="mono">{shown?.refresh_token ?? kept.refresh_token}</dd>
          </>
        )}
      </dl>
      <div className="row wrap">
        {step.is === "asking" ? (
          <>
            <span>Show them? Anyone who sees this screen can use them.</span>
            <SmallButton onClick={() => void reveal()}>Show</SmallButton>
            <SmallButton onClick={() => setStep({ is: "masked" })}>Cancel</SmallButton>
          </>
        ) : (
          <>
            <SmallButton
              onClick={() => (decoded ? setDecoded(null) : void ask(false).then(setDecoded))}
            >
              {decoded ? "Hide what it says" : "Decode"}
            </SmallButton>
            {shown ? (
              <>
                <SmallButton onClick={() => void copyText(shown.token ?? "")}>
                  Copy the access token
                </SmallButton>
                <SmallButton onClick={() => setStep({ is: "masked" })}>Hide</SmallButton>
              </>
            ) : (
              <SmallButton onClick={() => setStep({ is: "asking" })}>Reveal</SmallButton>
            )}
          </>
        )}
      </div>
      {decoded && <Decoded token={decoded} />}
    </div>
  );
}

const ORIGINS: Record<string, string> = {
  configured: "configured",
  registered: "registered by mcplens",
  entered: "entered by you",
  "metadata document": "by its metadata document",
};

export function KeptSignIn({ serverId, kept }: { serverId: string; kept: KeptSignInView }) {
  const facts: [string, ReactNode][] = [
    ["Signed in at", kept.issuer ? visible(kept.issuer) : "a token that you gave"],
    ["Resource", <span key="resource">{visible(kept.resource)}</span>],
  ];
  if (kept.client_id)
    facts.push([
      "Client ID",
      <span key="client">
        <span className="mono">{visible(kept.client_id)}</span>
        <span className="dim"> {ORIGINS[kept.client_origin ?? ""] ?? ""}</span>
      </span>,
    ]);
  if (kept.issuer) {
    const asked = <span className="mono">{visible(kept.requested.join(" ")) || "none"}</span>;
    facts.push(["Scopes asked for", asked], ["Scopes granted", <Scopes key="got" kept={kept} />]);
  }
  if (kept.token_type.toLowerCase() === "dpop")
    facts.push(["Token type", "DPoP: bound to a key of mcplens"]);
  facts.push(["Token expires", <Expiry key="expiry" kept={kept} />]);
  return (
    <section className="card stack" aria-label="Signed in">
      <h2 className="section-title">Signed in</h2>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Tokens serverId={serverId} kept={kept} />
    </section>
  );
}
