// The saved calls of a tool, below its form: a click fills the form.
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { modals } from "@mantine/modals";
import { Link } from "react-router";
import type { SavedCallView } from "../api/types";
import { Icon } from "../components/Icon";
import { pathToCollection } from "../state/navigation";
import { truncate } from "../values/format";
import { fieldsOf } from "../values/jsonObject";
import { deleteSavedCall, filledArguments, useSavedCalls } from "./savedCalls";

// A line of the hint.
const LONGEST = 100;

interface Props {
  serverId: string;
  tool: string;
  /** Called with the arguments as JSON text. */
  onChoose(name: string, given: string): void;
}

/** In one line what a call gave: its text, if it has any. */
function resultLine(result: unknown): string {
  const { content, structuredContent } = fieldsOf(result);
  const { text } = fieldsOf(Array.isArray(content) ? content[0] : undefined);
  const line = typeof text === "string" ? text : JSON.stringify(structuredContent ?? result);
  return truncate(line.replace(/\s+/g, " "), LONGEST);
}

export function hintOf({ description, arguments: given, result }: SavedCallView): string {
  const lines = [`Fills the form with ${truncate(given.replace(/\s+/g, " "), LONGEST)}`];
  if (description) lines.unshift(truncate(description, LONGEST));
  if (result !== null) lines.push(`Result when it was saved: ${resultLine(result)}`);
  return lines.join("\n");
}

export function SavedCallList({ serverId, tool, onChoose }: Props) {
  const saved = useSavedCalls(serverId, tool);
  const choose = async (one: SavedCallView): Promise<void> => {
    const given = await filledArguments(one);
    if (given !== null) onChoose(one.name, given);
  };
  const remove = (one: SavedCallView): void => {
    modals.openConfirmModal({
      title: `Delete “${one.name}”?`,
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
          <Tooltip label="Delete from its collection">
            <ActionIcon
              size="sm"
              aria-label={`Delete the saved call ${one.name}`}
              onClick={() => remove(one)}
            >
              <Icon name="close" size={12} />
            </ActionIcon>
          </Tooltip>
        </span>
      ))}
    </section>
  );
}
