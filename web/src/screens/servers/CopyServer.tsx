// Dialog with one server in another tool's format, shown before copying since it may contain
// secrets.
import { Button, Modal, Select } from "@mantine/core";
import { useState } from "react";
import type { ExportView, ServerView } from "../../api/types";
import { Callout } from "../../components/Callout";
import { copyText } from "../../components/clipboard";
import { ErrorNote } from "../../components/ErrorNote";
import { serverName } from "../../state/navigation";
import { pluralize } from "../../values/format";
import { ExportRemarks, SHAPES, type Shape, useExport } from "./exports";

interface MadeProps {
  made: ExportView;
  /** Whether it is in the format that is chosen. */
  isFresh: boolean;
  place: string;
  onDone(): void;
}

function Made({ made, isFresh, place, onDone }: MadeProps) {
  const secrets = pluralize(
    made.secret_count,
    "value in it looks like a secret",
    "values in it look like secrets",
  );
  return (
    <>
      <span className="dim">{place}</span>
      <pre className="block">{made.text}</pre>
      <ExportRemarks remarks={made.remarks} />
      {made.secret_count > 0 && (
        <Callout>{secrets}. Anyone who gets this text can read them.</Callout>
      )}
      <div className="row wrap" style={{ justifyContent: "flex-end" }}>
        <Button variant="default" onClick={onDone}>
          Close
        </Button>
        <Button
          disabled={!isFresh || made.text === ""}
          onClick={() => void copyText(made.text).then(onDone)}
        >
          Copy
        </Button>
      </div>
    </>
  );
}

export function CopyServer({ server, onClose }: { server: ServerView; onClose(): void }) {
  const [shape, setShape] = useState<Shape>("mcpServers");
  const { made, isFresh, error } = useExport([server.server_id], shape);
  const place = SHAPES.find((one) => one.value === shape)?.place ?? "";
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Copy ${serverName(server)} as`}
      size="lg"
      centered={false}
    >
      <div className="stack">
        <Select
          label="For"
          data={SHAPES}
          allowDeselect={false}
          value={shape}
          onChange={(next) => setShape(next as Shape)}
        />
        {error && <ErrorNote error={error} />}
        {made && !error && <Made made={made} isFresh={isFresh} place={place} onDone={onClose} />}
      </div>
    </Modal>
  );
}
