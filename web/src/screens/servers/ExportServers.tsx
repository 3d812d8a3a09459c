// Dialog that exports servers as a file; what the format cannot hold is shown before.
import { Button, Checkbox, Modal, Select } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import type { ExportView, ServerView } from "../../api/types";
import { downloadFile } from "../../components/download";
import { ErrorNote } from "../../components/ErrorNote";
import { Icon } from "../../components/Icon";
import { serverName } from "../../state/navigation";
import { useInspector } from "../../state/store";
import { pluralize } from "../../values/format";
import { visible } from "../../values/hiddenCharacters";
import { ExportRemarks, SHAPES, type Shape, useExport } from "./exports";

// File formats only: commands are copied per server.
const FILES = SHAPES.filter(({ file }) => file !== null);

function download(made: ExportView, file: string): void {
  downloadFile(made.text, file, "text/plain");
}

/** Confirms an export that contains secrets. */
function askToDownload(made: ExportView, file: string): void {
  const values = pluralize(
    made.secret_count,
    "value in it looks like a secret",
    "values in it look like secrets",
  );
  modals.openConfirmModal({
    title: `Download ${file}?`,
    children: `${values}. Anyone who gets the file can read them.`,
    labels: { confirm: "Download", cancel: "Cancel" },
    onConfirm: () => download(made, file),
  });
}

/** Configured servers, without the built-in demo. */
const exported = (servers: Map<string, ServerView>): ServerView[] =>
  [...servers.values()].filter((server) => server.source.kind !== "built-in");

/** The title, and the name that remarks call it by. */
const labelOf = (server: ServerView): string => {
  const { title, server_id } = server;
  return title === null ? serverName(server) : `${serverName(server)} (${visible(server_id)})`;
};

function Choice({ servers, onClose }: { servers: ServerView[]; onClose(): void }) {
  const [left, setLeft] = useState<string[]>([]);
  const [shape, setShape] = useState<Shape>("mcplens");
  const names = servers.map((server) => server.server_id).filter((name) => !left.includes(name));
  const { made, isFresh, error } = useExport(names, shape);
  const file = FILES.find((one) => one.value === shape)?.file ?? "";
  const take = (made: ExportView): void => {
    onClose();
    (made.secret_count ? askToDownload : download)(made, file);
  };
  return (
    <Modal opened onClose={onClose} title="Export servers">
      <div className="stack">
        <Select
          label="For"
          data={FILES}
          allowDeselect={false}
          value={shape}
          onChange={(value) => setShape(value as Shape)}
        />
        <Checkbox.Group
          label="Servers"
          value={names}
          onChange={(chosen) =>
            setLeft(servers.map((one) => one.server_id).filter((name) => !chosen.includes(name)))
          }
        >
          <div className="stack" style={{ paddingTop: 8 }}>
            {servers.map((server) => (
              <Checkbox
                key={server.server_id}
                value={server.server_id}
                label={labelOf(server)}
                styles={{ label: { overflowWrap: "anywhere" } }}
              />
            ))}
          </div>
        </Checkbox.Group>
        {error && <ErrorNote error={error} />}
        {made && <ExportRemarks remarks={made.remarks} />}
        <div className="row wrap" style={{ justifyContent: "flex-end" }}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={!isFresh} onClick={() => made && take(made)}>
            Download {file}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

export function ExportServers() {
  const servers = exported(useInspector((state) => state.servers));
  const [isOpen, setOpen] = useState(false);
  if (servers.length === 0) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" size={14} />}
        onClick={() => setOpen(true)}
      >
        Export
      </Button>
      {isOpen && <Choice servers={servers} onClose={() => setOpen(false)} />}
    </>
  );
}
