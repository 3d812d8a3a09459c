import { Button } from "@mantine/core";
import { useNavigate } from "react-router";
import { fetchEvent } from "../../api/http";
import type { EventView } from "../../api/types";
import { telling } from "../../state/actions";
import { placeMessage } from "../../state/rawMessage";
import { keepDraft } from "../../state/remembered";
import { useInspector } from "../../state/store";
import { tryParseExactly } from "../../values/exactJson";
import { editingOf } from "./editing";

/** Opens the screen that a request can be sent from, filled in with it; sends nothing. */
export function EditButton({ event }: { event: EventView }) {
  const navigate = useNavigate();
  const isKnown = useInspector((state) => state.servers.has(event.server_id));
  const edit = async (): Promise<void> => {
    const { text, text_is_cut } = await fetchEvent(event.run_id, event.seq);
    if (text === null || text_is_cut) throw new Error("It is too large to be edited in a page.");
    const parsed = tryParseExactly(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    const { path, drafts, raw } = editingOf(event.server_id, parsed.value);
    for (const draft of drafts) keepDraft(...draft);
    if (raw !== undefined) placeMessage(event.server_id, raw);
    void navigate(path);
  };
  return (
    <Button
      variant="default"
      size="compact-xs"
      disabled={!isKnown}
      onClick={() => void telling("It cannot be edited", edit())}
    >
      Edit and send
    </Button>
  );
}
