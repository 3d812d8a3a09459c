// One collection: its calls with their results, its variables, its file.
import { ActionIcon, Button, Checkbox, Menu, Tabs } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import type { CollectionView, StepView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { EmptyState } from "../../components/EmptyState";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { TextView } from "../../components/TextView";
import { usePreference, writeDraft } from "../../state/browserStorage";
import { command } from "../../state/commands";
import { pathTo, pathToCollection } from "../../state/navigation";
import { withErrorToast } from "../../state/toasts";
import { formatDuration } from "../../values/format";
import css from "./Collections.module.css";
import { useCollection } from "./collections";
import { HowToSave } from "./HowToSave";
import { NameDialog } from "./NameDialog";
import { StepDialog } from "./StepDialog";
import { StepTable } from "./StepTable";
import { useRun } from "./useRun";
import { Variables } from "./Variables";

interface ContentProps {
  view: CollectionView;
  reload(): Promise<void>;
  show(view: CollectionView): void;
  onMoved(key?: string): void;
  onChanged(): void;
}

function askToDelete(what: string, children: string, onConfirm: () => void): void {
  modals.openConfirmModal({
    title: `Delete “${what}”?`,
    children,
    labels: { confirm: "Delete", cancel: "Keep" },
    confirmProps: { color: "red.9" },
    onConfirm,
  });
}

function FileMenu({ view, onMoved, reload }: ContentProps) {
  const [isRenaming, setRenaming] = useState(false);
  const { key, digest, folder, name, path } = view;
  const remove = async (): Promise<void> => {
    const done = command("DeleteCollection", { key, digest });
    if (await withErrorToast("The collection was not deleted", done)) onMoved();
    else await reload();
  };
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon aria-label={`More for ${name}`}>
            <Icon name="down" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="copy" size={14} />}
            onClick={() => void copyText(path)}
          >
            Copy path
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="edit" size={14} />}
            disabled={view.is_given}
            onClick={() => setRenaming(true)}
          >
            Rename or move
          </Menu.Item>
          {view.is_given && (
            <Menu.Label>Not renamed here: mcplens was started with this file</Menu.Label>
          )}
          <Menu.Divider />
          <Menu.Item
            leftSection={<Icon name="trash" size={14} />}
            c="var(--bad-ink)"
            onClick={() =>
              askToDelete(
                name,
                `${path} and its ${view.steps.length} calls; a backup of the file is kept beside it.`,
                () => void remove(),
              )
            }
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isRenaming && (
        <NameDialog
          title={`Rename ${name}`}
          confirm="Rename"
          initial={{ folder, name }}
          onClose={() => setRenaming(false)}
          onDone={async (newFolder, newName) => {
            const given = { key, digest, folder: newFolder, name: newName };
            onMoved((await command("RenameCollection", given)).key);
          }}
        />
      )}
    </>
  );
}

function Summary({ run }: { run: ReturnType<typeof useRun> }) {
  const { latest } = run;
  if (!latest) return null;
  const count = (status: string): number =>
    latest.rows.filter((row) => row.status === status).length;
  const failed = count("error");
  const left = count("waiting") + count("running");
  return (
    <span className="row" role="status">
      <span>{count("done")} done</span>
      {failed > 0 && <span className="bad">{failed} failed</span>}
      {left > 0 && <span className="dim">{left} to go</span>}
      {latest.elapsed_s !== null && <span className="dim">{formatDuration(latest.elapsed_s)}</span>}
    </span>
  );
}

function Content(props: ContentProps) {
  const { view, reload, show, onChanged } = props;
  const navigate = useNavigate();
  const [stops, setStops] = usePreference("collections.stop", false);
  const [edited, setEdited] = useState<number | null>(null);
  const run = useRun(view, stops, show, reload);
  const step = view.steps.find((one) => one.index === edited);
  const saved = (next: CollectionView): void => {
    show(next);
    onChanged();
  };
  const open = async ({ index, server_id, target }: StepView): Promise<void> => {
    const { key, digest } = view;
    const filled = command("FillSavedCall", { key, digest, index });
    const text = await withErrorToast("The call cannot be filled in", filled);
    if (text === null || server_id === null) return;
    writeDraft(`tool.${server_id}/${target}`, { text, mode: "form" });
    void navigate(pathTo(server_id, "tools", target));
  };
  const remove = async ({ index }: StepView): Promise<void> => {
    const { key, digest } = view;
    const done = command("DeleteSavedCall", { key, digest, index });
    const next = await withErrorToast("The call was not deleted", done);
    if (next) saved(next);
    else await reload();
  };
  const disabledReason = run.isRunning ? "A run is under way" : null;
  return (
    <>
      <div className={`stack ${css.head}`}>
        <div className="row wrap">
          <Link to={pathToCollection()} className="narrow-only">
            All collections
          </Link>
          <h2 className="title">{view.name}</h2>
          <Summary run={run} />
          <div className={css.doing}>
            {run.isRunning ? (
              <>
                <Button variant="default" onClick={() => run.stop(false)}>
                  Stop after this call
                </Button>
                <Button variant="default" onClick={() => run.stop(true)}>
                  Cancel
                </Button>
              </>
            ) : (
              view.steps.length > 0 && (
                <>
                  <Checkbox
                    label="Stop at a failure"
                    checked={stops}
                    onChange={(change) => setStops(change.currentTarget.checked)}
                  />
                  <Button
                    data-run
                    leftSection={<Icon name="play" size={13} />}
                    onClick={() => run.start(null)}
                  >
                    Run all
                  </Button>
                </>
              )
            )}
            <FileMenu {...props} />
          </div>
        </div>
        {view.description && <span className="dim">{view.description}</span>}
        {!view.is_confirmed && !view.problem && (
          <Callout tone="info">
            This file was not written by mcplens on this computer. Before it is first run you are
            shown the servers and variables that it uses.
          </Callout>
        )}
      </div>
      <Tabs defaultValue={view.problem ? "file" : "calls"} className={css.tabs} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="calls">Calls</Tabs.Tab>
          <Tabs.Tab value="file">File</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="calls" className="scroll">
          {view.problem ? (
            <div className="pad">
              <Callout>This is not a collection: {view.problem}</Callout>
            </div>
          ) : view.steps.length === 0 ? (
            <EmptyState icon="collections" title="No calls in this collection">
              <HowToSave />
            </EmptyState>
          ) : (
            <StepTable
              steps={view.steps}
              run={run.latest}
              disabledReason={disabledReason}
              onRun={(one) => run.start([one.index])}
              onEdit={(one) => setEdited(one.index)}
              onOpen={(one) => void open(one)}
              onDelete={(one) =>
                askToDelete(
                  one.name,
                  `It is removed from ${view.path}; a backup of the file is kept.`,
                  () => void remove(one),
                )
              }
            />
          )}
          <Variables variables={view.variables} onChanged={() => void reload()} />
        </Tabs.Panel>
        <Tabs.Panel value="file" className="scroll">
          <div className="stack pad">
            <div className="row">
              <span className="mono cut">{view.path}</span>
              <Button size="compact-xs" variant="default" onClick={() => void copyText(view.path)}>
                Copy path
              </Button>
            </div>
            {view.problem && <Callout>This is not a collection: {view.problem}</Callout>}
            <TextView text={view.text} label={`Text of ${view.name}`} />
          </div>
        </Tabs.Panel>
      </Tabs>
      {run.dialogs}
      {step && (
        <StepDialog
          key={step.index}
          view={view}
          step={step}
          onReload={reload}
          onSaved={saved}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

interface Props {
  /** Key of the collection. */
  name: string;
  /** It has another key now, or none. */
  onMoved(key?: string): void;
  /** The number of its calls may have changed. */
  onChanged(): void;
}

export function CollectionPanel({ name, onMoved, onChanged }: Props) {
  const { value, error, reload, show } = useCollection(name);
  return (
    <div className="pane">
      {error && <ErrorNote error={error} title="The collection cannot be read" />}
      {value && (
        <Content view={value} reload={reload} show={show} onMoved={onMoved} onChanged={onChanged} />
      )}
    </div>
  );
}
