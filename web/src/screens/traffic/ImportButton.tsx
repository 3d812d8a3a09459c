import { Button, FileButton } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { importTrace } from "../../api/http";
import { counted, words } from "../../parts/format";

/** Takes a trace file into the recording, to be looked at offline. */
export function ImportButton() {
  const take = async (file: File | null): Promise<void> => {
    if (!file) return;
    try {
      const done = await importTrace(file);
      const message = `${counted(done.event_count, "event")} of ${counted(done.run_ids.length, "run")} were added to the recording.`;
      notifications.show({ title: file.name, message });
    } catch (thrown) {
      notifications.show({
        color: "red",
        title: `${file.name} was not imported`,
        message: words(thrown),
      });
    }
  };
  return (
    <FileButton onChange={(file) => void take(file)} accept=".jsonl,.json,.gz">
      {(props) => (
        <Button variant="default" {...props}>
          Import
        </Button>
      )}
    </FileButton>
  );
}
