// Dialog to choose a folder on the computer that mcplens runs on.
import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import type { FolderView } from "../api/types";
import { command } from "../state/commands";
import { withErrorToast } from "../state/toasts";
import css from "./FolderChooser.module.css";
import { Icon } from "./Icon";
import { useBusy } from "./useBusy";

function Folder({ name, onOpen }: { name: string; onOpen(): void }) {
  return (
    <Button
      fullWidth
      justify="flex-start"
      variant="subtle"
      color="gray"
      leftSection={<Icon name="folder" size={14} />}
      onClick={onOpen}
    >
      {name}
    </Button>
  );
}

interface Props {
  start: FolderView;
  onChoose(path: string): void;
  onClose(): void;
}

export function FolderChooser({ start, onChoose, onClose }: Props) {
  const [folder, setFolder] = useState(start);
  const { isBusy, run } = useBusy();
  const go = (path: string): void =>
    run(async () => {
      const next = await withErrorToast(
        "The folder cannot be read",
        command("BrowseFolder", { path }),
      );
      if (next) setFolder(next);
    });
  return (
    <Modal opened onClose={onClose} title="Choose a folder" size="lg">
      <div className="stack">
        <span className={`mono ${css.path}`}>{folder.path}</span>
        <div className={css.folders}>
          {folder.parent !== null && (
            <Folder name=".. (one up)" onOpen={() => go(folder.parent ?? "/")} />
          )}
          {folder.folders.map((name) => (
            <Folder
              key={name}
              name={name}
              onOpen={() => go(`${folder.path.replace(/\/$/, "")}/${name}`)}
            />
          ))}
        </div>
        {folder.is_cut && <span className="dim">There are more; type the path instead.</span>}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          {/* Disabled while a folder is loading, since the path is that of the previous one. */}
          <Button loading={isBusy} onClick={() => onChoose(folder.path)}>
            Choose this folder
          </Button>
        </div>
      </div>
    </Modal>
  );
}
