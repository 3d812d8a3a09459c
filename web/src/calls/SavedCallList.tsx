// The saved calls of a tool, below its form: a click fills the form.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { modals } from "@mantine/modals";
import { Link } from "react-router";
import type { SavedCallView } from "../api/types";
import { Icon } from "../components/Icon";
import { pathToCollection } from "../state/navigation";
import { truncate } from "../values/format";
import { pretty } from "../values/json";
import { deleteSavedCall, filledArguments, useSavedCalls } from "./savedCalls";

// A hint, not the whole result.
const LONGEST = 300;

interface Props {
  serverId: string;
  tool: string;
  /** The arguments, as JSON text. */
  onChoose(given: string): void;
}

function hintOf({ description, arguments: given, result }: SavedCallView): string {
  const gave = result === null ? "" : ` gave ${pretty(result)}`;
  return truncate(`${description ? `${description}\n` : ""}${given}${gave}`, LONGEST);
}

export function SavedCallList({ serverId, tool, onChoose }: Props) {
  const saved = useSavedCalls(serverId, tool);
  const choose = async (one: SavedCallView): Promise<void> => {
    const given = await filledArguments(one);
    if (given !== null) onChoose(given);
  };
  const remove = (one: SavedCallView): void => {
    modals.openConfirmModal({
      title: `Delete ${one.name}?`,
      children: `It is removed from the collection ${one.collection}; a backup of the file is kept.`,
      labels: { confirm: "Delete", cancel: "Keep" },
      confirmProps: { color: "red.9" },
      onConfirm: () => void deleteSavedCall({ server_id: serverId, tool }, one),
    });
  };
  // Reserves space, so that Run does not move when saved calls load.
  return (
    <section className="row wrap" aria-label="Saved calls" style={{ minHeight: 24 }}>
      {saved && saved.length > 0 && <Link to={pathToCollection()}>Saved calls</Link>}
      {saved?.map((one) => (
        <span key={`${one.key} ${one.index}`} className="row" style={{ gap: 0 }}>
          <Tooltip multiline maw={420} label={hintOf(one)} style={{ whiteSpace: "pre-line" }}>
            <Button size="compact-xs" variant="default" onClick={() => void choose(one)}>
              {one.name}
            </Button>
          </Tooltip>
          <ActionIcon
            size="sm"
            aria-label={`Delete the saved call ${one.name}`}
            onClick={() => remove(one)}
          >
            <Icon name="close" size={12} />
          </ActionIcon>
        </span>
      ))}
    </section>
  );
}
