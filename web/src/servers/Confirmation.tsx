// Confirmation dialog before a server from elsewhere is first started or contacted: shows
// everything that decides what it does.
import { Button } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import type { ConfirmationView, PairView, ServerView } from "../api/types";
import { Callout } from "../components/Callout";
import { UntrustedText } from "../components/UntrustedText";
import { command } from "../state/commands";
import { rememberServer } from "../state/lastVisited";
import { serverName } from "../state/navigation";
import { withErrorToast } from "../state/toasts";
import { visible } from "../values/hiddenCharacters";
import css from "./Confirmation.module.css";

function Value({ pair }: { pair: PairView }) {
  const [isShown, show] = useState(!pair.is_secret);
  if (isShown) return <dd>{pair.value}</dd>;
  return (
    <dd>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Show ${pair.name}`}
        onClick={() => show(true)}
      >
        Show
      </Button>
    </dd>
  );
}

function Values({ label, pairs }: { label: string; pairs: PairView[] }) {
  if (!pairs.length) return null;
  return (
    <section aria-label={label} className="stack tight">
      <span>{label}</span>
      <dl className={css.values}>
        {pairs.map((pair) => (
          <div key={pair.name}>
            <dt>{pair.name}</dt>
            <Value pair={pair} />
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Texts for a command and for a URL. */
const TEXTS = {
  command: {
    verb: "Start",
    new: "It has not been started before. This program would run on your computer, with your permissions:",
    warning:
      "Start it only if you know what it does and trust where it came from. An environment variable can change what a harmless command does.",
    failed: "The server could not be started",
  },
  url: {
    verb: "Connect to",
    new: "It has not been connected to before. mcplens would connect to this address:",
    warning:
      "Connect only if you trust this address. It receives the headers above and everything that you send to its tools.",
    failed: "Could not connect to the server",
  },
};
const textsFor = (what: ConfirmationView) => (what.command ? TEXTS.command : TEXTS.url);

function LaunchDetails({ server, what }: { server: ServerView; what: ConfirmationView }) {
  const words = textsFor(what);
  return (
    <div className="stack">
      <p style={{ margin: 0 }}>
        This server comes from {server.source.path || server.source.kind}. {words.new}
      </p>
      {what.command ? (
        <ol className="mono" style={{ margin: 0, paddingLeft: 28 }} start={0}>
          {what.command.map((part, index) => (
            <li key={index} style={{ overflowWrap: "anywhere" }}>
              <UntrustedText>{part}</UntrustedText>
            </li>
          ))}
        </ol>
      ) : (
        <pre className="block">{visible(what.url ?? "")}</pre>
      )}
      {what.cwd && <span className="dim">in the folder {what.cwd}</span>}
      <Values label="With these environment variables" pairs={what.env} />
      {!what.command && what.headers.length === 0 && (
        <span className="dim">mcplens would send no headers of its own.</span>
      )}
      <Values label="mcplens would send these headers" pairs={what.headers} />
      <Values label="With these options" pairs={what.others} />
      {what.variables.length > 0 && (
        <span>
          {what.command ? "It would be given" : "It would be sent"} these values of your
          environment: {what.variables.join(", ")}.
        </span>
      )}
      {what.files.length > 0 && (
        <span>
          To sign in, mcplens would read{" "}
          <span className="mono">{visible(what.files.join(", "))}</span>.
        </span>
      )}
      <Callout>{words.warning}</Callout>
    </div>
  );
}

async function ask(server: ServerView): Promise<void> {
  const { server_id } = server;
  const what = await command("ConfirmationOf", { server_id });
  const { fingerprint } = what;
  const { verb, failed } = textsFor(what);
  modals.openConfirmModal({
    title: `${verb} ${serverName(server)}?`,
    size: "lg",
    children: <LaunchDetails server={server} what={what} />,
    labels: { confirm: `${verb} it`, cancel: "Not now" },
    onConfirm: () => {
      rememberServer(server_id);
      const work = command("Confirm", { server_id, fingerprint }).then(() =>
        command("Connect", { server_id }),
      );
      void withErrorToast(failed, work);
    },
  });
}

export function askToConfirm(server: ServerView): void {
  void withErrorToast("The details of the server could not be loaded", ask(server));
}
