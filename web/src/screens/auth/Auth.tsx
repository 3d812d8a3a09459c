// The sign-in of a server: its steps as a live checklist, what is kept of it, and what to do.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import type { AuthView, ServerView, SignInRunView } from "../../api/types";
import { EmptyState } from "../../components/EmptyState";
import { type Busy, useBusy } from "../../components/useBusy";
import { askToConfirm } from "../../servers/Confirmation";
import { NotConnected } from "../../servers/NotConnected";
import { command } from "../../state/commands";
import { serverName, usePageLocation } from "../../state/navigation";
import { useMuteSignIn } from "../../state/notifications";
import { useInspector } from "../../state/store";
import { errorViewOf, withErrorToast } from "../../state/toasts";
import { formatTime } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import css from "./Auth.module.css";
import { Checklist } from "./Checklist";
import { KeptSignIn } from "./KeptSignIn";
import { EditFields, lacksClient, type SignInEdits, TokenForm } from "./SignInForms";
import { WaitingForYou } from "./WaitingForYou";

const OUTCOMES: Record<string, string> = {
  signed_in: "done",
  failed: "failed",
  cancelled: "cancelled",
  skipped: "no usable metadata",
};

const runTitle = ({ started, reason, outcome }: SignInRunView): string =>
  `${formatTime(started, false)} · ${visible(reason)} · ${outcome ? (OUTCOMES[outcome] ?? outcome) : "under way"}`;

function Runs({ serverId, runs }: { serverId: string; runs: SignInRunView[] }) {
  const [newest, ...earlier] = runs;
  if (!newest)
    return <p className="dim">The steps of the next sign-in are shown here, as they happen.</p>;
  return (
    <>
      <h2 className="section-title">{runTitle(newest)}</h2>
      <Checklist
        key={newest.sign_in_id}
        serverId={serverId}
        run={newest}
        label="Steps of the sign-in"
        isNewest
      />
      {earlier.map((run) => (
        <details key={run.sign_in_id}>
          <summary className="dim">{runTitle(run)}</summary>
          <Checklist serverId={serverId} run={run} label="Steps of an earlier sign-in" />
        </details>
      ))}
    </>
  );
}

interface ActionsProps {
  server: ServerView;
  edits: SignInEdits;
  busy: Busy;
}

function Actions({ server, edits, busy: { isBusy, run } }: ActionsProps) {
  const { server_id, auth } = server;
  if (!auth) return null;
  const start = (is_stepwise: boolean): void => {
    if (server.needs_confirmation) {
      askToConfirm(server);
      return;
    }
    run(() => {
      const work = command("SignInTo", { server_id, is_stepwise, ...edits });
      return withErrorToast("The sign-in could not start", work);
    });
  };
  const refresh = (): void =>
    run(() => {
      const work = command("RefreshToken", { server_id }).catch((thrown: unknown) => {
        // The step that failed is shown on this screen, with what to do.
        if (errorViewOf(thrown).code !== "SIGN_IN_FAILED") throw thrown;
      });
      return withErrorToast("Not refreshed", work);
    });
  const signOut = (): void =>
    run(async () => {
      const done = await withErrorToast("Not signed out", command("SignOut", { server_id }));
      if (done) notifications.show({ message: `${serverName(server)}: ${visible(done.outcome)}` });
    });
  const cancel = (): void =>
    void withErrorToast("Could not cancel", command("CancelSignIn", { server_id }));
  if (auth.is_running || server.state === "CONNECTING")
    return (
      <Button variant="default" onClick={cancel}>
        Cancel
      </Button>
    );
  return (
    <>
      {auth.kept && (
        <Button variant="default" loading={isBusy} onClick={signOut}>
          {auth.kept.issuer ? "Sign out" : "Remove the token"}
        </Button>
      )}
      {auth.kept?.refresh_token && (
        <Button variant="default" loading={isBusy} onClick={refresh}>
          Refresh now
        </Button>
      )}
      <Button variant="default" disabled={isBusy} onClick={() => start(true)}>
        Step by step
      </Button>
      <Button disabled={isBusy} onClick={() => start(false)}>
        {auth.kept ? "Sign in again" : "Sign in"}
      </Button>
    </>
  );
}

interface RegistrationProps {
  server: ServerView;
  auth: AuthView;
  busy: Busy;
}

/** Who mcplens is to the authorization server, as far as the sign-in does not say it already. */
function Registration({ server, auth, busy: { isBusy, run } }: RegistrationProps) {
  const { registration, kept } = auth;
  if (!registration) return null;
  const forget = (): void =>
    run(() =>
      withErrorToast(
        "The registration was not forgotten",
        command("ForgetRegistration", { server_id: server.server_id }),
      ),
    );
  const isSaid = kept?.issuer === registration.issuer && kept.client_id === registration.client_id;
  return (
    <section className="card stack" aria-label="Registration">
      <h2 className="section-title">Registration</h2>
      <dl className="facts">
        {!isSaid && (
          <>
            <dt>With</dt>
            <dd>{visible(registration.issuer)}</dd>
            <dt>Client ID</dt>
            <dd className="mono">{visible(registration.client_id)}</dd>
          </>
        )}
        <dt>Redirect URI</dt>
        <dd className="mono">{visible(registration.redirect_uri ?? "none")}</dd>
      </dl>
      <div className="row">
        {/* A sign-out moves this section: a click meant for the button would miss it. */}
        <Button size="compact-xs" variant="default" disabled={isBusy} onClick={forget}>
          Forget registration
        </Button>
      </div>
    </section>
  );
}

function NoSignIn({ server }: { server: ServerView }) {
  return (
    <div className="pane">
      <div className="scroll pad">
        <EmptyState
          icon="auth"
          title={`${serverName(server)} has not asked for a sign-in`}
          action={
            server.url !== null && (
              <div className={css.token}>
                <TokenForm serverId={server.server_id} />
              </div>
            )
          }
        >
          {server.url === null
            ? "It is started by a command. Servers that are reached by an address can ask for one."
            : "When it does, the steps are shown here, one by one."}
        </EmptyState>
      </div>
    </div>
  );
}

export function Auth() {
  const serverId = usePageLocation().server_id ?? "";
  const server = useInspector((state) => state.servers.get(serverId));
  const [edits, setEdits] = useState<SignInEdits>({});
  const busy = useBusy();
  const isThere = server !== undefined;
  useMuteSignIn(serverId);
  // Another mcplens may have signed in or out meanwhile.
  useEffect(() => {
    if (isThere) void command("LookAtAuth", { server_id: serverId }).catch(() => {});
  }, [serverId, isThere]);
  if (!server) return <NotConnected server={server} icon="auth" />;
  const { auth } = server;
  if (!auth) return <NoSignIn server={server} />;
  return (
    <div className={`pane ${css.screen}`}>
      <div className="toolbar">
        <h1 className="title">Auth</h1>
        <div className="actions">
          <Actions server={server} edits={edits} busy={busy} />
        </div>
      </div>
      <div className="scroll pad">
        <div className={css.columns}>
          <div className="stack">
            <WaitingForYou server={server} auth={auth} />
            <Runs serverId={serverId} runs={auth.runs} />
          </div>
          <div className="stack">
            {auth.kept && <KeptSignIn serverId={serverId} kept={auth.kept} />}
            <Registration server={server} auth={auth} busy={busy} />
            <EditFields edits={edits} isOpen={lacksClient(auth.runs[0])} onChange={setEdits} />
            <TokenForm serverId={serverId} />
          </div>
        </div>
      </div>
    </div>
  );
}
