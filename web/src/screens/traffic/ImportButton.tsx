import { Button, FileButton, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useLocation, useNavigate, useSearchParams } from "react-router";
import { importTrace } from "../../api/http";
import type { ImportedView } from "../../api/types";
import { Icon } from "../../components/Icon";
import { withErrorToast } from "../../state/toasts";
import { pluralize } from "../../values/format";

// Errors that are listed individually.
const MOST_TOLD = 3;

/** Summary of an import. */
export function importSummary(done: ImportedView): string {
  const { run_ids, event_count, known_count, broken, broken_count } = done;
  const parts = [
    `${pluralize(event_count, "event")} of ${pluralize(run_ids.length, "session")} added to the recording.`,
  ];
  if (known_count)
    parts.push(`${pluralize(known_count, "event was", "events were")} already present.`);
  if (broken_count) {
    const more = broken_count > MOST_TOLD ? "; …" : "";
    const told = broken.slice(0, MOST_TOLD).join("; ");
    parts.push(
      `${pluralize(broken_count, "line was", "lines were")} malformed and skipped: ${told}${more}`,
    );
  }
  return parts.join(" ");
}

/** Imports a trace file and shows its run. */
export function ImportButton() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [query] = useSearchParams();
  const take = async (file: File): Promise<void> => {
    const done = await importTrace(file);
    notifications.show({
      title: file.name,
      message: importSummary(done),
      ...(done.broken_count > 0 && { color: "yellow", autoClose: false }),
    });
    const run = done.run_ids[0];
    if (run === undefined) return;
    const path = pathname.replace(/\/traffic\/.*$/, "/traffic");
    // The compared event may be of another run.
    const base = query.get("compare");
    void navigate(`${path}?${new URLSearchParams({ run, ...(base && { compare: base }) })}`);
  };
  return (
    <FileButton
      onChange={(file) => file && void withErrorToast(`${file.name} was not imported`, take(file))}
      accept=".jsonl,.json,.gz"
    >
      {(props) => (
        <Tooltip label="Import a trace">
          <Button
            className="spare"
            variant="default"
            leftSection={<Icon name="upload" size={13} />}
            aria-label="Import"
            {...props}
          >
            Import
          </Button>
        </Tooltip>
      )}
    </FileButton>
  );
}
