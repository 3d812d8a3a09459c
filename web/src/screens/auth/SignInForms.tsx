// What can be changed before a sign-in is sent, and the form for a bearer token without any flow.
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useState } from "react";
import type { SignInRunView } from "../../api/types";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";

export interface SignInEdits {
  scopes?: string;
  client_id?: string;
  client_secret?: string;
  resource?: string;
  redirect_uri?: string;
}

/** The id of the field, for the button that leads to it. */
export const CLIENT_ID_FIELD = "sign-in-client-id";

/** Whether a sign-in failed since mcplens is no client there: one may be entered. */
export const lacksClient = (run: SignInRunView | undefined): boolean =>
  run?.error?.details.cause === undefined &&
  (run?.steps.some(({ step, state }) => step === "client" && state === "failed") ?? false);

const FIELDS: [keyof SignInEdits, string, string][] = [
  ["scopes", "Scope", "As configured, or as the server asks"],
  ["client_id", "Client ID", "As configured, or registered"],
  ["resource", "Resource", "The server's own"],
  ["redirect_uri", "Redirect URI", "A free port of this computer"],
];

interface Props {
  edits: SignInEdits;
  /** Unfolded, where the last sign-in failed for want of one of these. */
  isOpen: boolean;
  onChange(edits: SignInEdits): void;
}

/** An empty field is left as it is. */
export function EditFields({ edits, isOpen, onChange }: Props) {
  const set = (name: keyof SignInEdits, text: string): void => {
    const { [name]: _, ...rest } = edits;
    onChange(text ? { ...rest, [name]: text } : rest);
  };
  return (
    <details className="card" open={isOpen}>
      <summary className="section-title">Change what is sent</summary>
      <div className="stack" style={{ marginTop: 12 }}>
        {FIELDS.map(([name, label, hint]) => (
          <TextInput
            key={name}
            id={name === "client_id" ? CLIENT_ID_FIELD : undefined}
            label={label}
            placeholder={hint}
            value={edits[name] ?? ""}
            autoComplete="off"
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        ))}
        <PasswordInput
          label="Client secret"
          placeholder="None"
          value={edits.client_secret ?? ""}
          autoComplete="off"
          onChange={(event) => set("client_secret", event.currentTarget.value)}
        />
        <span className="dim">
          For the next sign-in only. A client ID that works is kept if the site registers no clients
          itself; everything else belongs in the auth block of the server.
        </span>
      </div>
    </details>
  );
}

export function TokenForm({ serverId }: { serverId: string }) {
  const [token, setToken] = useState("");
  const { isBusy, run } = useBusy();
  const keep = (): void =>
    run(async () => {
      const work = command("SetToken", { server_id: serverId, token });
      if (await withErrorToast("The token was not saved", work)) setToken("");
    });
  return (
    <details className="card">
      <summary className="section-title">Use a bearer token</summary>
      <form
        className="stack"
        style={{ marginTop: 12 }}
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <PasswordInput
          label="Token"
          description="Sent with each request, without any sign-in. It is kept until you sign out."
          value={token}
          autoComplete="off"
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <div className="row">
          <Button type="submit" variant="default" loading={isBusy} disabled={!token.trim()}>
            Save the token
          </Button>
        </div>
      </form>
    </details>
  );
}
