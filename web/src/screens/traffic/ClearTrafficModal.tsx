// Asks what to clear, and says what is lost.
import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";

interface Props {
  runId: string | null;
  isLive: boolean;
  onClose(): void;
  onCleared(): void;
  onDeleted(): void;
}

export function ClearTrafficModal({ runId, isLive, onClose, onCleared, onDeleted }: Props) {
  const [isBusy, setBusy] = useState(false);
  const forget = async (): Promise<void> => {
    if (runId === null) return;
    setBusy(true);
    const done = await withErrorToast(
      "The recording was not deleted",
      command("ForgetRun", { run_id: runId }).then(() => true),
    );
    setBusy(false);
    if (done) onDeleted();
  };
  return (
    <Modal opened onClose={onClose} title="Clear the traffic?" size="lg">
      <div className="stack">
        <p style={{ margin: 0 }}>
          <strong>Clear this view</strong> hides the current rows in this tab. Nothing is lost:
          Logs, the monitor and the recording keep them, and they can be shown again.
        </p>
        <p style={{ margin: 0 }}>
          <strong>Delete the recording of this session</strong>{" "}
          {isLive
            ? "deletes every message so far from the disk, of all servers; new messages are still recorded."
            : "deletes this session with all its messages from the disk."}{" "}
          It cannot be undone. Pins are kept.
        </p>
        <div className="row">
          <Button data-autofocus onClick={onCleared}>
            Clear this view
          </Button>
          <Button color="red" variant="light" loading={isBusy} onClick={() => void forget()}>
            Delete the recording of this session
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </div>
    </Modal>
  );
}
