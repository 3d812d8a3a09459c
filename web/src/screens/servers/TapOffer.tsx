// Offers to see what another tool sends to one of its servers: the tap in that tool's file.
import { Button, Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { FoundView, TapChangeView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { command } from "../../state/commands";
import { errorViewOf, withErrorToast } from "../../state/toasts";
import css from "./FoundServerList.module.css";

interface Props {
  one: FoundView;
  onChanged(): void;
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`);

/** The command before and after, as a diff. */
function Change({ change }: { change: TapChangeView }) {
  const shown = (sign: string, words: string[]): string => `${sign} ${words.map(quote).join(" ")}`;
  return (
    <>
      <div className="mono" style={{ overflowWrap: "anywhere" }}>
        {change.file}: {change.keys.join(" › ")}
      </div>
      <pre className={css.change}>
        {shown("-", change.command)}
        {"\n"}
        {shown("+", change.changed_command)}
      </pre>
    </>
  );
}

export function TapOffer({ one, onChanged }: Props) {
  const [change, setChange] = useState<TapChangeView | null>(null);
  const [error, setError] = useState<ReturnType<typeof errorViewOf> | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (one.tap === null) return null;
  const isInstall = one.tap !== "installed";
  const asked = { ...one.source, name: one.name, is_install: isInstall };
  const show = (): Promise<void> =>
    command("ChangeTap", asked).then(setChange, (thrown: unknown) => setError(errorViewOf(thrown)));
  const write = async (): Promise<void> => {
    setBusy(true);
    const work = command("ChangeTap", { ...asked, is_written: true });
    const done = await withErrorToast("The file was not changed", work);
    setBusy(false);
    if (!done) return;
    notifications.show({
      message: isInstall
        ? `Restart ${done.client}, then open Traffic: its sessions with ${one.name} are listed there.`
        : `${one.name} has its own command back. Restart ${done.client}.`,
    });
    setChange(null);
    onChanged();
  };
  return (
    <>
      <div>
        <Button variant="default" size="compact-sm" onClick={() => void show()}>
          {isInstall ? "See what this client sends" : "Stop recording this client"}
        </Button>
      </div>
      {error && <ErrorNote error={error} />}
      {change && (
        <Modal
          opened
          size="lg"
          title={isInstall ? `See what ${change.client} sends` : `Stop recording ${change.client}`}
          onClose={() => setChange(null)}
        >
          <div className="stack">
            <p style={{ margin: 0 }}>
              {isInstall
                ? `${change.client} will start this server through mcplens, which passes every byte on and records it. One entry of its file changes:`
                : `${change.client} will start this server by itself again. One entry of its file changes:`}
            </p>
            <Change change={change} />
            <p className="dim" style={{ margin: 0 }}>
              Nothing else in the file changes. The previous version is kept beside it.
            </p>
            <div className="row" style={{ justifyContent: "flex-end" }}>
              <Button variant="default" onClick={() => setChange(null)}>
                Cancel
              </Button>
              <Button data-autofocus loading={isBusy} onClick={() => void write()}>
                Change the file
              </Button>
            </div>
          </div>
        </Modal>
      )}
    </>
  );
}
