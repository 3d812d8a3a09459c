// All that decides what a server does is shown before one that came from elsewhere is first started.
import { Button } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import type { ConfirmationView, PairView, ServerView } from "../api/types";
import { Callout } from "../parts/Callout";
import { Name } from "../parts/Name";
import { telling } from "../state/actions";
import { command } from "../state/connection";
import { nameOf } from "../state/selection";
import { visible } from "../values/visible";
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

function WhatStarts({ server, what }: { server: ServerView; what: ConfirmationView }) {
  return (
    <div className="stack">
      <p style={{ margin: 0 }}>
        This server comes from {server.source.path || server.source.kind}. It has not been started
        before.{" "}
        {what.command
          ? "This program would run on your computer, with your rights:"
          : "This address would be contacted:"}
      </p>
      {what.command ? (
        <ol className="mono" style={{ margin: 0, paddingLeft: 28 }} start={0}>
          {what.command.map((part, index) => (
            <li key={index} style={{ overflowWrap: "anywhere" }}>
              <Name>{part}</Name>
            </li>
          ))}
        </ol>
      ) : (
        <pre className="block">{visible(what.url ?? "")}</pre>
      )}
      {what.cwd && <span className="dim">in the folder {what.cwd}</span>}
      <Values label="With these environment variables" pairs={what.env} />
      <Values label="With these headers" pairs={what.headers} />
      <Values label="With these options" pairs={what.others} />
      {what.variables.length > 0 && (
        <span>
          It would be given these values of your environment: {what.variables.join(", ")}.
        </span>
      )}
      <Callout>
        Start it only if you know what it does and trust where it came from. A variable can make
        another program of a harmless command.
      </Callout>
    </div>
  );
}

async function ask(server: ServerView): Promise<void> {
  const { server_id } = server;
  const what = await command("ConfirmationOf", { server_id });
  const { fingerprint } = what;
  modals.openConfirmModal({
    title: `Start ${nameOf(server)}?`,
    size: "lg",
    children: <WhatStarts server={server} what={what} />,
    labels: { confirm: "Start it", cancel: "Not now" },
    onConfirm: () => {
      const work = command("Confirm", { server_id, fingerprint }).then(() =>
        command("Connect", { server_id }),
      );
      void telling("It could not be started", work);
    },
  });
}

export function askToConfirm(server: ServerView): void {
  void telling("What it starts could not be shown", ask(server));
}
