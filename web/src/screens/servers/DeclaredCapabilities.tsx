// Switches for the capabilities that we declare to a server, from the next connection on.
import { Button, Switch } from "@mantine/core";
import type { ServerView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { useBusy } from "../../components/useBusy";
import { reconnect } from "../../servers/connectionActions";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import {
  type Capabilities,
  hasFeature,
  isLeftOut,
  isOn,
  PARTS,
  revisionNote,
  withFeature,
} from "./capabilities";
import css from "./DeclaredCapabilities.module.css";
import { NamedCapabilities } from "./experimental/NamedCapabilities";

/** Notice that the connection has other capabilities, with a button to reconnect. */
export function ReconnectNotice({ server }: { server: ServerView }) {
  const { isBusy, run } = useBusy();
  if (!server.needs_reconnect && !isBusy) return null;
  const again = (): void => run(() => withErrorToast("Could not connect again", reconnect(server)));
  return (
    <Callout tone="info">
      <div className="row wrap">
        <span className="grow">
          This connection was opened with other capabilities. Connect again to declare these.
        </span>
        <Button variant="default" loading={isBusy} onClick={again}>
          Connect again
        </Button>
      </div>
    </Callout>
  );
}

/** Notice that profile, roots or capabilities are not saved, with buttons to save or reset. */
export function UnsavedSettingsNotice({ server }: { server: ServerView }) {
  const { server_id } = server;
  if (server.is_saved) return null;
  const set = (fields: { save?: boolean; reset?: boolean }): void =>
    void withErrorToast(
      fields.save
        ? "The settings could not be saved to the file"
        : "The settings could not be reset",
      command("SetCapabilities", { server_id, ...fields }),
    );
  return (
    <Callout tone="info">
      <div className="row wrap">
        <span className="grow">
          {server.is_editable
            ? "Profile, roots or capabilities differ from the file. They last until mcplens exits."
            : "This server is not in a configuration file. Its profile, roots and capabilities last until mcplens exits."}
        </span>
        <Button variant="subtle" onClick={() => set({ reset: true })}>
          Reset
        </Button>
        {server.is_editable && (
          <Button variant="default" onClick={() => set({ save: true })}>
            Save to the file
          </Button>
        )}
      </div>
    </Callout>
  );
}

const told = (what: string, note: string | null): string => (note ? `${what}. ${note}` : what);

export function DeclaredCapabilities({ server }: { server: ServerView }) {
  const { server_id, client_capabilities: ours } = server;
  const set = (capabilities: Capabilities): void =>
    void withErrorToast(
      "The capabilities were not changed",
      command("SetCapabilities", { server_id, capabilities }),
    );
  return (
    <div className="stack">
      <h3 className="section-title">Capabilities we declare</h3>
      <ReconnectNotice server={server} />
      <div className={css.parts}>
        {PARTS.map((part) => (
          <div key={part.name} className={css.part}>
            <Switch
              label={part.label}
              aria-label={part.label}
              description={told(part.about, revisionNote(server, part.name))}
              disabled={isLeftOut(server, part.name)}
              checked={isOn(ours, part.name)}
              onChange={(event) =>
                set({ [part.name]: event.currentTarget.checked ? part.full : null })
              }
            />
            {part.features.map(({ key, label }) => (
              <Switch
                key={key}
                className={css.feature}
                label={label}
                aria-label={`${part.label} ${label}`}
                description={revisionNote(server, `${part.name}.${key}`)}
                disabled={!isOn(ours, part.name) || isLeftOut(server, `${part.name}.${key}`)}
                checked={hasFeature(ours, part.name, key)}
                onChange={(event) => set(withFeature(ours, part, key, event.currentTarget.checked))}
              />
            ))}
          </div>
        ))}
      </div>
      <h3 className="section-title">{told("Extensions", revisionNote(server, "extensions"))}</h3>
      <NamedCapabilities server={server} kind="extensions" />
      <h3 className="section-title">Experimental</h3>
      <NamedCapabilities server={server} kind="experimental" />
    </div>
  );
}
