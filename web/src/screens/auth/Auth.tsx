// Sign-in of one server: its steps, what waits for a person, and what is signed in.
import { Button, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import type {
  AccountView,
  AuthorizationView,
  ServerView,
  SignInStepView,
  TokenView,
} from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { Icon } from "../../components/Icon";
import { JsonTree } from "../../components/JsonTree";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { signIn } from "../../servers/connectionActions";
import { command } from "../../state/commands";
import { pathTo, useCurrentServer } from "../../state/navigation";
import { withErrorToast } from "../../state/toasts";
import { formatDateTime } from "../../values/format";
import { needsSignIn } from "../../values/serverState";
import css from "./Auth.module.css";

const LABELS: Record<string, string> = {
  started: "in progress",
  noted: "in progress",
  waiting: "waits for you",
  done: "done",
  failed: "failed",
};

function Step({ server, step }: { server: ServerView; step: SignInStepView }) {
  return (
    <li className={css.step} data-state={step.state}>
      <div className="row wrap">
        <strong className="grow">{step.title}</strong>
        <span className={css.state}>{LABELS[step.state] ?? step.state}</span>
      </div>
      {step.text && (
        <div className={css.text}>
          <UntrustedText>{step.text}</UntrustedText>
        </div>
      )}
      {step.expected && (
        <div className="dim">
          Expected: <UntrustedText>{step.expected}</UntrustedText>
        </div>
      )}
      <Link to={pathTo(server.server_id, "traffic", String(step.seq))}>In Traffic</Link>
    </li>
  );
}

/** Where to sign in, and a field for the address if the browser cannot come back by itself. */
function Waiting({ server, request }: { server: ServerView; request: AuthorizationView }) {
  const [url, setUrl] = useState("");
  const { isBusy, run } = useBusy();
  const { server_id } = server;
  const answer = (event: FormEvent): void => {
    event.preventDefault();
    run(() =>
      withErrorToast("This is not the answer", command("AnswerSignIn", { server_id, url })),
    );
  };
  return (
    <section className={css.waiting} aria-label="Waiting for you">
      <p>
        Sign in at <UntrustedText>{request.issuer}</UntrustedText>
        {request.scopes.length > 0 && (
          <>
            {" for "}
            <UntrustedText>{request.scopes.join(" ")}</UntrustedText>
          </>
        )}
        .
      </p>
      <div className="row wrap">
        <Button component="a" href={request.url} target="_blank" rel="noopener noreferrer">
          Open the sign-in page
        </Button>
        <Button
          variant="default"
          onClick={() =>
            void withErrorToast("Could not stop", command("Disconnect", { server_id }))
          }
        >
          Cancel
        </Button>
      </div>
      <form className="row wrap" onSubmit={answer}>
        <TextInput
          className="grow"
          label="If that page cannot come back to mcplens, paste the address it was sent to"
          placeholder={`${request.redirect_uri}?code=…`}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!url.trim()} loading={isBusy}>
          Continue
        </Button>
      </form>
    </section>
  );
}

/** The token and its claims, shown because somebody asked for them. */
function Token({ token }: { token: TokenView }) {
  return (
    <div className={`stack ${css.token}`}>
      <code className={css.text}>
        <UntrustedText>{token.access_token}</UntrustedText>
      </code>
      {token.claims ? (
        <JsonTree label="What the token says" value={token.claims} most={300} />
      ) : (
        <span className="dim">It is opaque: only the server can read it.</span>
      )}
    </div>
  );
}

function Account({ server, account }: { server: ServerView; account: AccountView }) {
  const { isBusy, run } = useBusy();
  const { server_id } = server;
  const [token, setToken] = useState<TokenView | null>(null);
  const show = (): void =>
    run(async () =>
      setToken(
        token
          ? null
          : await withErrorToast("The token cannot be shown", command("ShowToken", { server_id })),
      ),
    );
  const refresh = (): void => {
    setToken(null);
    run(() => withErrorToast("Not refreshed", command("RefreshSignIn", { server_id })));
  };
  const out = (forgets_client: boolean): void =>
    run(async () => {
      const done = await withErrorToast(
        "Could not sign out",
        command("SignOut", { server_id, forgets_client }),
      );
      if (done) notifications.show({ title: "Signed out", message: done.outcome });
    });
  const renewed = account.has_refresh_token ? "renewed by itself" : "then sign in again";
  const expires = account.expires_at === null ? "not told" : formatDateTime(account.expires_at);
  const facts: [string, string][] = [
    ["Signed in at", account.issuer || "with a token that you gave"],
    ["Client", account.client_id],
    ["Requested scopes", account.requested.join(" ")],
    ["Granted scopes", account.granted.join(" ")],
    ["Token", account.token_type],
    ["Expires", `${expires}; ${renewed}`],
  ];
  return (
    <section className="stack" aria-label="Signed in">
      <dl className="facts">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} style={{ display: "contents" }}>
              <dt>{name}</dt>
              <dd>
                <UntrustedText>{value}</UntrustedText>
              </dd>
            </div>
          ))}
      </dl>
      {token && <Token token={token} />}
      <div className="row wrap">
        <Button variant="default" disabled={isBusy} onClick={show}>
          {token ? "Hide the token" : "Show the token"}
        </Button>
        {account.has_refresh_token && (
          <Button variant="default" disabled={isBusy} onClick={refresh}>
            Refresh now
          </Button>
        )}
        <Button variant="default" disabled={isBusy} onClick={() => out(false)}>
          Sign out
        </Button>
        <Button variant="default" disabled={isBusy} onClick={() => out(true)}>
          Sign out and forget the client
        </Button>
      </div>
    </section>
  );
}

export function Auth() {
  const server = useCurrentServer();
  const { isBusy, run } = useBusy();
  if (!server) return null;
  const begin = (): void => run(() => signIn(server));
  const { sign_in: view } = server;
  const isOff = server.state === "DISCONNECTED" || server.state === "ERROR";
  const button = (
    <Button loading={isBusy} onClick={begin} leftSection={<Icon name="auth" size={14} />}>
      Sign in
    </Button>
  );
  if (!view && !needsSignIn(server)) {
    return (
      <EmptyState icon="auth" title="No sign-in">
        {server.url === null
          ? "This server is started by a command. It has no sign-in."
          : "This server has not asked for a sign-in."}
      </EmptyState>
    );
  }
  return (
    <div className="pane">
      <div className="toolbar">
        <h1 className="title">Auth</h1>
        <span className="grow" />
        {isOff && button}
      </div>
      <div className={`scroll ${css.body}`}>
        {view?.waiting && <Waiting server={server} request={view.waiting} />}
        {view?.account && <Account server={server} account={view.account} />}
        {view && view.steps.length > 0 && (
          <section className="stack" aria-label="Steps">
            <h2 className="section-title">Last sign-in</h2>
            <ol className={css.steps}>
              {view.steps.map((step) => (
                <Step key={step.step} server={server} step={step} />
              ))}
            </ol>
          </section>
        )}
        {isOff && !view?.steps.length && (
          <p className="dim">The server wants a sign-in. mcplens shows which site opens first.</p>
        )}
      </div>
    </div>
  );
}
