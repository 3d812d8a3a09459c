// How clients reach the gateway: address, token, and the entry for each client's configuration.
import { ActionIcon, Select, Tooltip } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import type { GatewayEntryView, GatewayView } from "../../api/types";
import { CodeBlock } from "../../components/CodeBlock";
import { copyText } from "../../components/clipboard";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { SmallButton } from "../../components/SmallButton";
import { usePreference } from "../../state/browserStorage";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import type { Language } from "../../values/highlight";
import css from "./Gateway.module.css";
import { Section } from "./Section";
import { useReply } from "./useReply";

const MASK = "••••••••••••••••";
// How the files of clients are spelled, where that is not JSON; there are no colours for TOML.
const LANGUAGES: Record<string, Language | null> = { codex: null, goose: "yaml" };

const languageOf = (client: string): Language | null =>
  client in LANGUAGES ? (LANGUAGES[client] ?? null) : "json";

function CopyButton({ label, onCopy }: { label: string; onCopy(): void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={onCopy}>
        <Icon name="copy" size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

const askToken = (): Promise<string | null> =>
  withErrorToast("The token cannot be shown", command("GatewayToken", {}));

function Token() {
  const [token, setToken] = useState<string | null>(null);
  const copy = async () => {
    const found = token ?? (await askToken());
    if (found) await copyText(found, "Token copied");
  };
  const show = async () => setToken(token === null ? await askToken() : null);
  return (
    <>
      <span className={`mono ${css.secret}`}>{token ?? MASK}</span>
      <CopyButton label="Copy the token" onCopy={() => void copy()} />
      <SmallButton onClick={() => void show()}>{token === null ? "Show" : "Hide"}</SmallButton>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className={css.fact}>{children}</dd>
    </>
  );
}

function Entry({ entry, onCopy }: { entry: GatewayEntryView; onCopy(): void }) {
  return (
    <>
      {entry.command !== null ? (
        <div className={css.fact}>
          <span className="mono">{entry.command}</span>
          <CopyButton
            label="Copy the command"
            onCopy={() => void copyText(entry.command ?? "", "Command copied")}
          />
          <span className="dim">writes it for you</span>
        </div>
      ) : (
        <p className="dim">
          The port changes with every start. With <span className="mono">gateway.listen</span> in
          the <Link to="/settings">settings</Link> it stays the same.
        </p>
      )}
      <div className={css.snippet}>
        <CodeBlock text={entry.text} language={languageOf(entry.client)} />
        <CopyButton label={`Copy the entry for ${entry.title}`} onCopy={onCopy} />
      </div>
    </>
  );
}

function Entries({ url }: { url: string }) {
  const [client, setClient] = usePreference("gateway.client", "claude-code");
  const { value: entries, error } = useReply(url, () => command("GatewayEntries", {}));
  if (error) return <ErrorNote error={error} title="The entries for clients cannot be shown" />;
  if (!entries) return null;
  const entry = entries.find((one) => one.client === client) ?? entries[0];
  if (!entry) return null;
  const copy = async () => {
    const shown = await withErrorToast(
      "The entry was not copied",
      command("GatewayEntries", { is_revealed: true }),
    );
    const whole = shown?.find((one) => one.client === entry.client);
    if (whole) await copyText(whole.text, "Copied with the token");
  };
  return (
    <div className={css.entry}>
      <Select
        label="Client"
        data={entries.map(({ client, title }) => ({ value: client, label: title }))}
        value={entry.client}
        allowDeselect={false}
        onChange={(value) => setClient(value ?? "claude-code")}
        maw={240}
      />
      <Entry entry={entry} onCopy={() => void copy()} />
    </div>
  );
}

/** Open for who has no client yet, else out of the way of what is live. */
function GiveAway({ url, isOpenFirst }: { url: string; isOpenFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <>
      <button
        type="button"
        className={`plain ${css.opener}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "down" : "chevron"} size={12} /> Give it to a client
      </button>
      {isOpen && <Entries url={url} />}
    </>
  );
}

export function Access({ gateway }: { gateway: GatewayView }) {
  const { url, has_token } = gateway;
  if (url === null)
    return (
      <Section title="Access">
        <p className="dim">It serves the program that started it, over pipes.</p>
      </Section>
    );
  return (
    <Section title="Access">
      <dl className={`facts ${css.access}`}>
        <Fact name="Address">
          <span className={`mono ${css.secret}`}>{url}</span>
          <CopyButton
            label="Copy the address"
            onCopy={() => void copyText(url, "Address copied")}
          />
        </Fact>
        <Fact name="Token">
          {has_token ? <Token /> : <span className="dim">No token is needed</span>}
        </Fact>
      </dl>
      <GiveAway url={url} isOpenFirst={gateway.clients.length === 0} />
    </Section>
  );
}
