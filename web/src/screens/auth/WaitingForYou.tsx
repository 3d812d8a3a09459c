// What a sign-in waits for: the site that is to be opened, a choice, or a step that is to go on.
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { AuthView, ServerView } from "../../api/types";
import { useBusy } from "../../components/useBusy";
import { SignInLink } from "../../servers/SignInLink";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { visible } from "../../values/hiddenCharacters";
import css from "./Auth.module.css";

function Paste({ serverId }: { serverId: string }) {
  const [url, setUrl] = useState("");
  const { isBusy, run } = useBusy();
  const send = (): void =>
    run(async () => {
      const work = command("PasteRedirect", { server_id: serverId, url });
      if (await withErrorToast("The address was not accepted", work)) setUrl("");
    });
  return (
    <form
      className="row wrap"
      style={{ alignItems: "flex-end" }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextInput
        className="grow"
        label="Or paste the address that the browser was sent to"
        description="Needed if the browser runs on another computer; the address contains code="
        value={url}
        autoComplete="off"
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={isBusy} disabled={!url.trim()}>
        Continue
      </Button>
    </form>
  );
}

function OpenSite({ server, auth }: { server: ServerView; auth: AuthView }) {
  return (
    <>
      <span>
        Sign in at <strong className="mono">{visible(auth.site ?? "")}</strong>
        {auth.scopes.length > 0 && (
          <>
            {" "}
            with the scope <span className="mono">{visible(auth.scopes.join(" "))}</span>
          </>
        )}
        . This page continues by itself when you are done.
      </span>
      <div className="row wrap">
        <SignInLink server={server} size="sm" />
      </div>
      <Paste serverId={server.server_id} />
    </>
  );
}

function Choice({ serverId, issuers }: { serverId: string; issuers: string[] }) {
  const choose = (issuer: string): void =>
    void withErrorToast(
      "The choice was not accepted",
      command("ChooseIssuer", { server_id: serverId, issuer }),
    );
  return (
    <>
      <span>The server accepts sign-ins of several sites. Where do you want to sign in?</span>
      <div className="row wrap">
        {issuers.map((issuer) => (
          <Button key={issuer} variant="default" onClick={() => choose(issuer)}>
            {visible(issuer)}
          </Button>
        ))}
      </div>
    </>
  );
}

type Field = "scopes" | "client_id" | "redirect_uri" | "resource";
type Edits = Partial<Record<Field, string>>;
/** What each step that can be changed sends. */
const FIELDS: Record<string, [Field, string, string][]> = {
  client: [
    ["client_id", "Client ID", "Empty: registered with the authorization server"],
    ["redirect_uri", "Redirect URI", "Empty: a free port of this computer"],
  ],
  authorization: [
    ["scopes", "Scope", ""],
    ["client_id", "Client ID", ""],
    ["resource", "Resource", ""],
    ["redirect_uri", "Redirect URI", ""],
  ],
};

/** The title of the step that waits. */
const pausedTitle = ({ runs, paused }: AuthView): string =>
  runs[0]?.steps.find(({ step }) => step === paused)?.title ?? paused ?? "";

function Paused({ server, auth }: { server: ServerView; auth: AuthView }) {
  const [edits, setEdits] = useState<Edits>({});
  const { draft, paused } = auth;
  const { server_id } = server;
  const go = (at_once: boolean): void =>
    void withErrorToast(
      "The step could not start",
      command("ContinueSignIn", { server_id, at_once, ...edits }),
    );
  const sent: Record<Field, string> = {
    scopes: draft?.scopes.join(" ") ?? "",
    client_id: draft?.client_id ?? "",
    redirect_uri: draft?.redirect_uri ?? "",
    resource: draft?.resource ?? "",
  };
  return (
    <>
      <span>
        Next: <strong>{pausedTitle(auth)}</strong>
        {draft && ". What is sent can be changed first."}
      </span>
      {draft &&
        FIELDS[paused ?? ""]?.map(([name, label, hint]) => (
          <TextInput
            key={name}
            label={label}
            placeholder={hint}
            value={edits[name] ?? sent[name]}
            autoComplete="off"
            onChange={(event) => setEdits({ ...edits, [name]: event.currentTarget.value })}
          />
        ))}
      <div className="row wrap">
        <Button onClick={() => go(false)}>Continue</Button>
        <Button variant="default" onClick={() => go(true)}>
          Run the rest at once
        </Button>
      </div>
    </>
  );
}

export function WaitingForYou({ server, auth }: { server: ServerView; auth: AuthView }) {
  const isWaiting = auth.open_url !== null || auth.issuers.length > 0 || auth.paused !== null;
  if (!isWaiting) return null;
  return (
    <section className={`stack ${css.ask}`} aria-label="Waiting for you">
      {auth.open_url && <OpenSite server={server} auth={auth} />}
      {auth.issuers.length > 0 && <Choice serverId={server.server_id} issuers={auth.issuers} />}
      {auth.paused && <Paused key={auth.paused} server={server} auth={auth} />}
    </section>
  );
}
