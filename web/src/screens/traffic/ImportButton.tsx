import { Button, FileButton } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { importTrace } from "../../api/http";
import type { ImportedView } from "../../api/types";
import { counted, words } from "../../parts/format";

// Lines that are told one by one.
const MOST_TOLD = 3;

/** What an import did, and what it could not do. */
export function toldOf({ run_ids, event_count, known_count, broken }: ImportedView): string {
  const parts = [
    `${counted(event_count, "event")} of ${counted(run_ids.length, "run")} added to the recording.`,
  ];
  if (known_count) parts.push(`${counted(known_count, "event was", "events were")} there already.`);
  if (broken.length) {
    const more = broken.length > MOST_TOLD ? "; …" : "";
    const told = broken.slice(0, MOST_TOLD).join("; ");
    parts.push(
      `${counted(broken.length, "line was", "lines were")} broken and left out: ${told}${more}`,
    );
  }
  return parts.join(" ");
}

/** Takes a trace file into the recording, and shows it. */
export function ImportButton() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [query] = useSearchParams();
  const take = async (file: File | null): Promise<void> => {
    if (!file) return;
    try {
      const done = await importTrace(file);
      const isBroken = done.broken.length > 0;
      notifications.show({
        title: file.name,
        message: toldOf(done),
        ...(isBroken && { color: "yellow", autoClose: false }),
      });
      const run = done.run_ids[0];
      const path = pathname.replace(/\/traffic\/.*$/, "/traffic");
      // What is compared may be of another run.
      const base = query.get("compare");
      const address = new URLSearchParams({ run: run ?? "", ...(base && { compare: base }) });
      if (run !== undefined) void navigate(`${path}?${address}`);
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
